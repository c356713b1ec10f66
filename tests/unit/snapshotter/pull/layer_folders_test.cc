#include "snapshotter/pull/layer_folders.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "indexer/base/file_io.h"
#include "snapshotter/pull/layer_numbers.h"
#include "snapshotter/pull/layer_origin.h"
#include "snapshotter/pull/list_folder.h"
#include "tests/support/temporary_directory.h"

namespace soci {
namespace {

bool Exists(const std::string& path) {
  struct stat attributes {};
  return ::stat(path.c_str(), &attributes) == 0;
}

class LayerFoldersTest : public ::testing::Test {
 protected:
  test::TemporaryDirectory folder_;
  const StatePaths paths_{folder_ / "state", folder_ / "run"};
  LayerFolders folders_{paths_};
  const oci::LayerDigest a_{oci::Digest::Of("a")};
  const oci::LayerDigest b_{oci::Digest::Of("b")};
};

TEST_F(LayerFoldersTest, AFolderGoesWithItsLastHolder) {
  auto first = folders_.Take(a_).value();
  auto second = folders_.Take(a_).value();
  first.reset();
  EXPECT_TRUE(Exists(paths_.LayerFolder(a_)));
  second.reset();
  EXPECT_FALSE(Exists(paths_.LayerFolder(a_)));
}

TEST_F(LayerFoldersTest, G7LeftoversOfAnEarlierRunAreCollectedAndHeldOnesStay) {
  ASSERT_TRUE(MakeDirectories(paths_.LayerFolder(b_) + "/data/00").ok());
  ASSERT_TRUE(MakeDirectories(paths_.LayersFolder() + "/no-digest").ok());
  auto held = folders_.Take(a_).value();
  folders_.CollectUnused();
  EXPECT_TRUE(Exists(paths_.LayerFolder(a_)));
  EXPECT_EQ(ListFolder(paths_.LayersFolder()).size(), 1u);
}

TEST_F(LayerFoldersTest, NothingIsDeletedWhenTheDaemonStops) {
  auto held = folders_.Take(a_).value();
  folders_.KeepAll();
  held.reset();
  EXPECT_TRUE(Exists(paths_.LayerFolder(a_)));
}

TEST_F(LayerFoldersTest, ANumberStaysWithItsFolderOverARestart) {
  auto hold_a = folders_.Take(a_).value();
  auto hold_b = folders_.Take(b_).value();
  LayerOrigin origin;
  origin.image = oci::Reference::Parse("registry.example/app:v1").value();
  {
    LayerNumbers numbers(paths_);
    EXPECT_EQ(numbers.Take(a_), 1u);
    origin.number = numbers.Take(b_);
    EXPECT_EQ(origin.number, 2u);
    EXPECT_EQ(numbers.Take(b_), 2u);
  }
  ASSERT_TRUE(WriteOrigin(paths_.LayerFolder(b_), origin).ok());
  LayerNumbers numbers(paths_);
  EXPECT_EQ(numbers.Take(a_), 1u);
  EXPECT_EQ(numbers.Take(b_), 2u);
  numbers.Free(a_);
  EXPECT_FALSE(numbers.IsTaken(1));
  EXPECT_EQ(numbers.Take(oci::LayerDigest(oci::Digest::Of("c"))), 1u);
}

}  // namespace
}  // namespace soci
