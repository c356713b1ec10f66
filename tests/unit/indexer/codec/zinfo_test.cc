#include "indexer/codec/zinfo.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace soci {
namespace {

using ::testing::HasSubstr;

std::string Encoded(const std::vector<Checkpoint>& checkpoints) {
  Windows windows(checkpoints.size());
  for (size_t i = 0; i < windows.size(); ++i) windows[i].fill(static_cast<std::byte>(i));
  std::string out;
  AppendZinfo(4096, checkpoints, windows, out);
  EXPECT_EQ(out.size(), *ZinfoSize(checkpoints.size()));
  return out;
}

const std::vector<Checkpoint> kCheckpoints{{.compressed = 10, .uncompressed = 0, .bits = 0},
                                           {.compressed = 0x123456789a, .uncompressed = 0x23456789ab, .bits = 7}};

TEST(Zinfo, ReadsBackAsItWasWritten) {
  const Result<Zinfo> zinfo = DecodeZinfo(Encoded(kCheckpoints));
  ASSERT_TRUE(zinfo.ok()) << zinfo.status();
  EXPECT_EQ(zinfo->span_size, 4096u);
  EXPECT_EQ(zinfo->checkpoints, kCheckpoints);
  EXPECT_EQ(zinfo->windows[1][100], std::byte{1});
}

TEST(Zinfo, IsPackedLittleEndianWithoutPadding) {
  const std::string bytes = Encoded(kCheckpoints);
  EXPECT_EQ(bytes.size(), 12u + 2 * 32785);
  EXPECT_EQ(bytes.substr(0, 12), std::string("\x02\0\0\0\0\x10\0\0\0\0\0\0", 12));
  EXPECT_EQ(bytes.substr(12 + 32785, 17), std::string("\x9a\x78\x56\x34\x12\0\0\0\xab\x89\x67\x45\x23\0\0\0\x07", 17));
}

TEST(Zinfo, OfTheOldestLayoutLacksItsFirstCheckpoint) {
  std::string bytes = Encoded({kCheckpoints[1]});
  bytes[0] = 2;
  const Result<Zinfo> zinfo = DecodeZinfo(bytes);
  ASSERT_TRUE(zinfo.ok()) << zinfo.status();
  EXPECT_EQ(zinfo->checkpoints, kCheckpoints);
}

TEST(Zinfo, IsRefusedWhenItsLengthIsNotThatOfItsCount) {
  const std::string bytes = Encoded(kCheckpoints);
  EXPECT_FALSE(DecodeZinfo(bytes.substr(0, 11)).ok());
  EXPECT_FALSE(DecodeZinfo(bytes.substr(0, bytes.size() - 1)).ok());
  EXPECT_FALSE(DecodeZinfo(bytes + "x").ok());
  std::string many = bytes;
  many[3] = 0x7f;  // 2^31 spans
  EXPECT_THAT(std::string(Message(DecodeZinfo(many).status())), HasSubstr("checkpoints in"));
  many[3] = static_cast<char>(0xff);
  EXPECT_FALSE(DecodeZinfo(many).ok());
}

TEST(Zinfo, IsRefusedWithNegativeOffsetsOrMoreBitsThanAByteHas) {
  std::string bytes = Encoded(kCheckpoints);
  bytes[12 + 7] = static_cast<char>(0x80);
  EXPECT_FALSE(DecodeZinfo(bytes).ok());
  bytes = Encoded(kCheckpoints);
  bytes[12 + 16] = 8;
  EXPECT_FALSE(DecodeZinfo(bytes).ok());
}

TEST(Zinfo, HoldsNoMoreCheckpointsThanItsReadersTake) {
  EXPECT_TRUE(ZinfoSize(65502).ok());
  EXPECT_FALSE(ZinfoSize(65503).ok());
}

}  // namespace
}  // namespace soci
