#include "fuse/session/errno_of.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace soci {
namespace {

TEST(ErrnoOf, TheErrnoThatAStatusCarriesWins) {
  EXPECT_EQ(ErrnoOf(ErrnoStatus(ESTALE, "inode 9")), ESTALE);
  EXPECT_EQ(ErrnoOf(ErrnoStatus(ENOSPC, "disk")), ENOSPC);
}

TEST(ErrnoOf, AnErrnoThatTheKernelWouldMisreadBecomesEio) {
  EXPECT_EQ(ErrnoOf(ErrnoStatus(EINTR, "pread")), EIO);
  EXPECT_EQ(ErrnoOf(ErrnoStatus(EAGAIN, "pread")), EIO);
  EXPECT_EQ(ErrnoOf(ErrnoStatus(ENOSYS, "pread")), EIO);
}

TEST(ErrnoOf, BytesThatCannotBeHadAreEio) {
  EXPECT_EQ(ErrnoOf(absl::DataLossError("digest")), EIO);
  EXPECT_EQ(ErrnoOf(absl::UnavailableError("registry")), EIO);
  EXPECT_EQ(ErrnoOf(absl::DeadlineExceededError("60 s")), EIO);
  EXPECT_EQ(ErrnoOf(absl::UnauthenticatedError("token")), EIO);
  EXPECT_EQ(ErrnoOf(absl::NotFoundError("inode")), ENOENT);
  EXPECT_EQ(ErrnoOf(OkStatus()), 0);
}

}  // namespace
}  // namespace soci
