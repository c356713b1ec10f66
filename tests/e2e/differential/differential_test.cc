// The oracle: a layer of ours, at every stage of its life, equals the same layer applied by containerd's own unpacker.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <set>

#include "indexer/base/byte_source.h"
#include "indexer/base/file_io.h"
#include "snapshotter/unpack/ordered_download.h"
#include "snapshotter/unpack/unpack_layer.h"
#include "tests/e2e/differential/generated_layers.h"
#include "tests/e2e/differential/unpacked_layer.h"
#include "tests/e2e/support/containerd.h"
#include "tests/e2e/support/sandbox.h"
#include "tests/layers/random_reads.h"
#include "tests/layers/tree.h"
#include "tests/lazy/lazy_mount.h"

namespace soci {
namespace {

using test::Differences;
using test::GeneratedLayer;
using test::IndexedLayer;
using test::Tree;

class Differential : public ::testing::Test {
 protected:
  // The layer as containerd has it. What has the time of the unpacking is left out: the root, whiteouts, and folders
  // that no member makes (of time 0 in the table; no generated folder has that time).
  Tree Expected(const GeneratedLayer& generated, const IndexedLayer& layer) {
    Tree tree = test::WalkDirectory(UnpackByContainerd(sandbox_, containerd_, generated.name, layer));
    undefined_times_ = {""};
    for (const auto& [path, entry] : test::WalkTable(*layer.table, layer.tar)) {
      if (S_ISDIR(entry.mode) && entry.mtime_seconds == 0) undefined_times_.insert(path);
    }
    ForgetTimes(tree, undefined_times_);
    return tree;
  }
  Tree Comparable(Tree tree) const {
    ForgetTimes(tree, undefined_times_);
    return tree;
  }

  // The same layer, pulled as a whole by ourselves.
  Tree UnpackedByUs(const std::string& name, const IndexedLayer& layer) {
    const std::string folder = sandbox_ / ("unpacked-" + name);
    EXPECT_EQ(MakeDirectories(folder), OkStatus());
    DownloadWindow window({.connections = 4, .range = 5'000, .ranges = 6});
    const auto unpacked =
        UnpackLayer(*MakeMemorySource(layer.blob), {layer.digest, layer.diff_id, true}, folder, window, {});
    EXPECT_TRUE(unpacked.ok()) << unpacked.status();
    return unpacked.ok() ? Comparable(test::WalkDirectory(folder + "/fs")) : Tree();
  }

  test::Sandbox sandbox_;
  test::Containerd containerd_{sandbox_, sandbox_ / "soci.sock"};
  test::LazyParts parts_;
  std::set<std::string> undefined_times_;
};

// Cold, complete without network, while and after it was sealed through the mount of before, and the sealed directory.
TEST_F(Differential, GeneratedLayersAreWhatContainerdUnpacksAtEveryStageOfTheirLife) {
  uint32_t seed = 1;
  for (const GeneratedLayer& generated : test::GeneratedLayers()) {
    SCOPED_TRACE(generated.name);
    const IndexedLayer layer = MakeIndexedLayer(generated.tar, generated.options);
    const Tree expected = Expected(generated, layer);
    EXPECT_EQ(Differences(expected, Comparable(test::WalkTable(*layer.table, layer.tar))), "") << "the table";

    EXPECT_EQ(Differences(expected, UnpackedByUs(generated.name, layer)), "") << "unpacked";

    test::LazyMount mount(parts_, sandbox_ / generated.name, layer);
    EXPECT_EQ(test::ReadRandomly(mount.path(), expected, ++seed), "") << "cold";
    EXPECT_EQ(Differences(expected, Comparable(test::WalkDirectory(mount.path()))), "") << "cold";
    mount.Fill();
    mount.CutOff();
    mount.Remount();
    EXPECT_EQ(test::ReadRandomly(mount.path(), expected, ++seed), "") << "complete";
    EXPECT_EQ(Differences(expected, Comparable(test::WalkDirectory(mount.path()))), "") << "complete";
    ASSERT_EQ(mount.Seal(), OkStatus());
    EXPECT_EQ(Differences(expected, Comparable(test::WalkDirectory(mount.store().sealed_path()))), "") << "sealed";
    EXPECT_EQ(Differences(expected, Comparable(test::WalkDirectory(mount.path()))), "") << "mounted when it was sealed";
    mount.Remount();
    EXPECT_EQ(test::ReadRandomly(mount.path(), expected, ++seed), "") << "mounted after it was sealed";
  }
}

}  // namespace
}  // namespace soci
