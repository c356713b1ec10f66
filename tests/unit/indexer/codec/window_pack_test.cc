#include "indexer/codec/window_pack.h"

#include <gtest/gtest.h>

#include "tests/gzip/gzip_maker.h"

namespace soci {
namespace {

TEST(WindowPack, GivesBackWhatWasPacked) {
  std::mt19937 random(1);
  for (int i = 0; i < 20; ++i) {
    const std::string window = test::RandomBytes(kWindowSize, random);
    Window back;
    ASSERT_TRUE(UnpackWindow(AsBytes(WindowPacker().Pack(AsBytes(window))), back).ok());
    EXPECT_EQ(AsText(back), window);
  }
}

TEST(WindowPack, OfZerosIsEmpty) {
  const std::string window(kWindowSize, '\0');
  EXPECT_EQ(WindowPacker().Pack(AsBytes(window)), "");
  Window back;
  back.fill(std::byte{1});
  ASSERT_TRUE(UnpackWindow({}, back).ok());
  EXPECT_EQ(AsText(back), window);
}

TEST(WindowPack, IsRefusedWhenItIsShortLongOrDamaged) {
  Window out;
  EXPECT_EQ(UnpackWindow(AsBytes(WindowPacker().Pack(AsBytes("short"))), out).code(), absl::StatusCode::kDataLoss);
  const std::string twice(2 * kWindowSize, 'x');
  EXPECT_EQ(UnpackWindow(AsBytes(WindowPacker().Pack(AsBytes(twice))), out).code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(UnpackWindow(AsBytes("no frame"), out).code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace soci
