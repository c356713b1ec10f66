#include "indexer/base/file_io.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/temporary_directory.h"

namespace soci {
namespace {

class FileIo : public ::testing::Test {
 protected:
  test::TemporaryDirectory temporary_;
  const std::string folder_ = temporary_.path();
};

TEST_F(FileIo, AtomicWriteReplacesAndLeavesNoTemporary) {
  ASSERT_TRUE(WriteFileAtomic(folder_ + "/a", "old").ok());
  ASSERT_TRUE(WriteFileAtomic(folder_ + "/a", "new").ok());
  EXPECT_EQ(*ReadFile(folder_ + "/a"), "new");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

TEST_F(FileIo, MissingFileIsNotFoundWithItsPath) {
  const Status status = ReadFile(folder_ + "/none").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(StatusErrno(status), ENOENT);
  EXPECT_THAT(std::string(Message(status)), ::testing::HasSubstr(folder_ + "/none"));
}

TEST_F(FileIo, ReadPastTheLimitIsRefused) {
  ASSERT_TRUE(WriteFileAtomic(folder_ + "/a", std::string(100, 'x')).ok());
  EXPECT_EQ(ReadFile(folder_ + "/a", 99).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(ReadFile(folder_ + "/a", 100).ok());
}

TEST_F(FileIo, RemoveTreeRemovesFilesLinksAndFoldersButNotWhatLinksPointTo) {
  ASSERT_TRUE(MakeDirectories(folder_ + "/x/y/z").ok());
  ASSERT_TRUE(WriteFileAtomic(folder_ + "/kept", "1").ok());
  std::filesystem::create_symlink(folder_ + "/kept", folder_ + "/x/y/link");
  ASSERT_TRUE(RemoveTree(folder_ + "/x/").ok());
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/x"));
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/kept"));
  EXPECT_TRUE(RemoveTree(folder_ + "/x").ok());
}

TEST_F(FileIo, MakeDirectoriesThroughAFileFails) {
  ASSERT_TRUE(WriteFileAtomic(folder_ + "/f", "").ok());
  EXPECT_EQ(StatusErrno(MakeDirectories(folder_ + "/f/g")), ENOTDIR);
}

}  // namespace
}  // namespace soci
