// The oracle: a layer of ours, at every stage of its life, equals the same layer applied by containerd's own unpacker.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <set>

#include "fuse/store/layer_store.h"
#include "tests/e2e/differential/generated_layers.h"
#include "tests/e2e/differential/unpacked_layer.h"
#include "tests/e2e/support/containerd.h"
#include "tests/e2e/support/sandbox.h"
#include "tests/layers/tree.h"

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

  test::Sandbox sandbox_;
  test::Containerd containerd_{sandbox_, sandbox_ / "soci.sock"};
  FdCache files_;
  std::set<std::string> undefined_times_;
};

TEST_F(Differential, GeneratedLayersAreWhatContainerdUnpacks) {
  for (const GeneratedLayer& generated : test::GeneratedLayers()) {
    SCOPED_TRACE(generated.name);
    const IndexedLayer layer = MakeIndexedLayer(generated.tar, generated.options);
    const Tree expected = Expected(generated, layer);
    EXPECT_EQ(Differences(expected, Comparable(test::WalkTable(*layer.table, layer.tar))), "") << "the table";

    const auto store = LayerStore::Open(sandbox_ / generated.name, layer.table, files_);
    ASSERT_TRUE(store.ok()) << store.status();
    for (uint32_t i = 0; i < layer.table->span_count(); ++i) {
      const SpanId span{i};
      ASSERT_EQ((*store)->CheckSpan(span, layer.Decoded(span)), OkStatus());
      ASSERT_EQ((*store)->WriteSpan(span, layer.Decoded(span)), OkStatus());
    }
    ASSERT_EQ((*store)->Seal({.diff_id = layer.diff_id}), OkStatus());
    EXPECT_EQ(Differences(expected, Comparable(test::WalkDirectory((*store)->sealed_path()))), "") << "sealed";
  }
}

}  // namespace
}  // namespace soci
