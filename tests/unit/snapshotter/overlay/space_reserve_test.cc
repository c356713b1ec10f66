#include "snapshotter/overlay/space_reserve.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/support/temporary_directory.h"

namespace soci {
namespace {

TEST(SpaceReserve, RoomIsHeldOnTheDiskGivenUpOnceAndHeldAgain) {
  test::TemporaryDirectory folder;
  const std::string path = folder / "reserve";
  const SpaceReserve reserve(path);
  EXPECT_FALSE(reserve.GiveUp());
  reserve.Hold();
  reserve.Hold();
  struct stat file {};
  ASSERT_EQ(::stat(path.c_str(), &file), 0);
  EXPECT_GE(file.st_blocks * 512, 1 << 20);
  EXPECT_TRUE(reserve.GiveUp());
  EXPECT_FALSE(reserve.GiveUp());
}

TEST(SpaceReserve, WhereNoFileCanBeMadeNothingIsHeld) {
  const SpaceReserve reserve("/proc/none/reserve");
  reserve.Hold();
  EXPECT_FALSE(reserve.GiveUp());
}

}  // namespace
}  // namespace soci
