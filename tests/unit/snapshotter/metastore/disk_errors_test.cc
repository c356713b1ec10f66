#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "snapshotter/metastore/metastore.h"
#include "tests/support/temporary_directory.h"
#include "tests/unit/snapshotter/metastore/faulty_vfs.h"

namespace soci {
namespace {

constexpr auto kActive = SnapshotKind::kActive;

// One of each kind of call; what fails, fails.
void CallEverything(Metastore& store) {
  (void)store.Create(kActive, "a", "base", {{"x", "1"}});
  (void)store.Commit("a", "layer", {{"y", "2"}}, {});
  (void)store.AddRemote("chain", "base", {}, "sha256:l");
  (void)store.Update("base", {{"z", std::string(5000, 'z')}}, {});
  (void)store.Remove("layer");
  (void)store.Remove("chain");
  (void)store.List({});
}

// Field report C3: after one failed call, in whatever place, the next ones work and nothing is half-done.
TEST(MetastoreDiskErrors, C3_OneFailedDiskCallAnywhereLeavesAWorkingConsistentStore) {
  test::TemporaryDirectory folder;
  test::FaultyVfs vfs;
  uint64_t failures = 0;
  for (uint64_t at = 1;; ++at) {
    const std::string path = folder / std::to_string(at);
    {
      Result<std::unique_ptr<Metastore>> opened = Metastore::Open(path);
      ASSERT_TRUE(opened.ok()) << opened.status();
      Metastore& store = **opened;
      ASSERT_TRUE(store.Create(kActive, "b", "", {}).ok());
      ASSERT_TRUE(store.Commit("b", "base", {}, {}).ok());
      vfs.FailAt(at);
      CallEverything(store);
      if (vfs.calls() < at) break;
      ++failures;
      vfs.FailAt(0);
      for (int i = 0; i < 5; ++i) {
        ASSERT_TRUE(store.Create(kActive, "again", "base", {}).ok()) << "after call " << at;
        ASSERT_TRUE(store.Remove("again").ok());
      }
    }
    Result<std::unique_ptr<Metastore>> reopened = Metastore::Open(path);
    ASSERT_TRUE(reopened.ok()) << "after call " << at << ": " << reopened.status();
    Result<std::vector<Snapshot>> left = (*reopened)->List({});
    ASSERT_TRUE(left.ok());
    for (const Snapshot& snapshot : *left) {
      EXPECT_TRUE(snapshot.name == "base" || snapshot.parent == "base") << snapshot.name;
    }
  }
  EXPECT_GT(failures, 10u) << "the disk was hardly asked";
}

TEST(MetastoreDiskErrors, AFailureWhileOpeningIsOneErrorNamingTheFile) {
  test::TemporaryDirectory folder;
  test::FaultyVfs vfs;
  for (uint64_t at = 1;; ++at) {
    const std::string path = folder / std::to_string(at);
    vfs.FailAt(at);
    const Status status = Metastore::Open(path).status();
    if (vfs.calls() < at) break;
    if (!status.ok()) {
      EXPECT_THAT(std::string(Message(status)), ::testing::HasSubstr(path));
    }
    vfs.FailAt(0);
    EXPECT_TRUE(Metastore::Open(path).ok()) << "after call " << at;
  }
}

}  // namespace
}  // namespace soci
