#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "indexer/base/file_io.h"
#include "snapshotter/overlay/disk_usage.h"
#include "snapshotter/overlay/short_links.h"
#include "snapshotter/overlay/snapshot_folders.h"
#include "tests/support/temporary_directory.h"

namespace soci {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

mode_t ModeOf(const std::string& path) {
  struct stat attributes {};
  EXPECT_EQ(::stat(path.c_str(), &attributes), 0) << path;
  return attributes.st_mode & 07777;
}

class Folders : public ::testing::Test {
 protected:
  test::TemporaryDirectory folder_;
  SnapshotFolders folders_{folder_ / "snapshots"};
};

TEST_F(Folders, ModesAreContainerdsWhateverTheUmaskIs) {
  const mode_t old = ::umask(0077);
  ASSERT_TRUE(folders_.Make(1, SnapshotKind::kActive, std::nullopt).ok());
  ASSERT_TRUE(folders_.Make(2, SnapshotKind::kView, std::nullopt).ok());
  ::umask(old);
  EXPECT_EQ(ModeOf(folders_.Of(1).fs), 0755u);
  EXPECT_EQ(ModeOf(folders_.Of(1).work), 0711u);
  EXPECT_FALSE(std::filesystem::exists(folders_.Of(2).work));
}

TEST_F(Folders, FsBelongsToTheOwnerOfTheParentsRoot) {
  const SnapshotFolders::Owner me{::getuid(), ::getgid()};
  ASSERT_TRUE(folders_.Make(1, SnapshotKind::kActive, me).ok());
  Result<SnapshotFolders::Owner> owner = SnapshotFolders::OwnerOf(folders_.Of(1).fs);
  ASSERT_TRUE(owner.ok());
  EXPECT_EQ(owner->user, me.user);
  EXPECT_EQ(owner->group, me.group);
  EXPECT_EQ(SnapshotFolders::OwnerOf(folder_ / "none").status().code(), absl::StatusCode::kNotFound);
}

TEST_F(Folders, AFolderGoesInTwoStepsAndOneThatIsMissingIsFine) {
  ASSERT_TRUE(folders_.Make(5, SnapshotKind::kActive, std::nullopt).ok());
  const std::string name = *folders_.MoveAway(5);
  EXPECT_THAT(*folders_.Names(), ElementsAre(name));
  EXPECT_FALSE(SnapshotFolders::IdOf(name).has_value());
  EXPECT_TRUE(folders_.Delete(name).ok());
  EXPECT_THAT(*folders_.Names(), IsEmpty());
  EXPECT_TRUE(folders_.MoveAway(5).ok());
  EXPECT_TRUE(folders_.Delete(name).ok());
}

TEST_F(Folders, NamesTellIdsFromTheRest) {
  EXPECT_EQ(SnapshotFolders::IdOf("12"), 12);
  EXPECT_FALSE(SnapshotFolders::IdOf("12x").has_value());
  EXPECT_FALSE(SnapshotFolders::IdOf("").has_value());
  EXPECT_FALSE(SnapshotFolders::IdOf("gone-12").has_value());
}

TEST_F(Folders, WhatCannotBeMadeLeavesNothing) {
  ASSERT_TRUE(WriteFileAtomic(folder_ / "snapshots", "a file").ok());
  const Status status = folders_.Make(1, SnapshotKind::kActive, std::nullopt);
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(std::string(Message(status)), ::testing::HasSubstr(folder_ / "snapshots"));
}

TEST_F(Folders, UsageCountsBlocksAndEachInodeOnce) {
  ASSERT_TRUE(MakeDirectories(folder_ / "t/sub").ok());
  ASSERT_TRUE(WriteFileAtomic(folder_ / "t/a", std::string(10'000, 'x')).ok());
  std::filesystem::create_hard_link(folder_ / "t/a", folder_ / "t/sub/b");
  std::filesystem::create_symlink("/", folder_ / "t/sub/link");
  Result<SnapshotUsage> usage = DiskUsage(folder_ / "t");
  ASSERT_TRUE(usage.ok());
  EXPECT_EQ(usage->inodes, 4u);  // t, sub, a = b, link
  EXPECT_GE(usage->bytes, 10'000u);
  EXPECT_LT(usage->bytes, 1u << 20) << "the link to / was followed";
  EXPECT_EQ(DiskUsage(folder_ / "none").status().code(), absl::StatusCode::kNotFound);
}

TEST_F(Folders, UsageOfSparseFilesIsWhatTheyTake) {
  ASSERT_TRUE(MakeDirectories(folder_ / "t").ok());
  ASSERT_TRUE(WriteFileAtomic(folder_ / "t/a", "x").ok());
  std::filesystem::resize_file(folder_ / "t/a", 1 << 30);
  EXPECT_LT(DiskUsage(folder_ / "t")->bytes, 1u << 20);
}

TEST_F(Folders, UsageOfATreeDeeperThanAnyPathEnds) {
  ASSERT_TRUE(MakeDirectories(folder_ / "t").ok());
  int depth = ::open((folder_ / "t").c_str(), O_RDONLY | O_DIRECTORY);
  const std::string name(100, 'd');
  for (int i = 0; i < 60; ++i) {
    ASSERT_EQ(::mkdirat(depth, name.c_str(), 0755), 0);
    const int next = ::openat(depth, name.c_str(), O_RDONLY | O_DIRECTORY);
    ::close(depth);
    depth = next;
  }
  ::close(depth);
  Result<SnapshotUsage> usage = DiskUsage(folder_ / "t");
  ASSERT_TRUE(usage.ok()) << usage.status();
  EXPECT_GT(usage->inodes, 30u);
}

TEST_F(Folders, AShortLinkFollowsItsTargetAndGoesWithItsSnapshot) {
  ShortLinks links(folder_ / "l");
  ASSERT_TRUE(links.To(3, "/somewhere").ok());
  const std::string link = *links.To(3, "/elsewhere");
  EXPECT_EQ(std::filesystem::read_symlink(link), "/elsewhere");
  ASSERT_TRUE(links.To(4, "/x").ok());
  links.Keep({4});
  EXPECT_FALSE(std::filesystem::is_symlink(link));
  EXPECT_TRUE(std::filesystem::is_symlink(folder_ / "l/4"));
}

}  // namespace
}  // namespace soci
