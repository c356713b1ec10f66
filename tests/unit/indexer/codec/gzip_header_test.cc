// Field report A3: probing an ordinary gzip layer must not depend on fields that are not there.
#include "indexer/codec/gzip_header.h"

#include <gtest/gtest.h>

#include "tests/gzip/gzip_maker.h"

namespace soci::test {
namespace {

size_t SizeOf(const std::string& bytes) {
  const Result<MemberHeader> header = ParseMemberHeader(AsBytes(bytes));
  return header.ok() ? header->size : ~size_t{0};
}

TEST(GzipHeader, MayLackEveryField) { EXPECT_EQ(SizeOf(GzipHeader()), 10u); }

TEST(GzipHeader, MayHaveAnExtraFieldOfLengthZero) { EXPECT_EQ(SizeOf(GzipHeader({.extra = ""})), 12u); }

TEST(GzipHeader, MayHaveEveryField) {
  const std::string header =
      GzipHeader({.extra = std::string(300, 'x'), .name = "layer.tar", .comment = "comment", .checksum = true});
  EXPECT_EQ(SizeOf(header), header.size());
}

TEST(GzipHeader, IsIncompleteWhenAnExtraFieldIsLongerThanTheBytes) {
  EXPECT_EQ(SizeOf(GzipHeader({.extra = std::string(60000, 'x')}).substr(0, 40)), 0u);
}

TEST(GzipHeader, IsIncompleteWhenTheBlobHasThreeBytesOrNone) {
  EXPECT_EQ(SizeOf("\x1f\x8b\x08"), 0u);
  EXPECT_EQ(SizeOf(""), 0u);
}

TEST(GzipHeader, IsRefusedWithAWrongChecksumOrAReservedFlag) {
  std::string header = GzipHeader({.checksum = true});
  header.back() ^= 1;
  EXPECT_FALSE(ParseMemberHeader(AsBytes(header)).ok());
  header = GzipHeader();
  header[3] = 0x20;
  EXPECT_FALSE(ParseMemberHeader(AsBytes(header)).ok());
}

TEST(GzipHeader, IsRefusedWithANameThatNeverEnds) {
  EXPECT_TRUE(ParseMemberHeader(AsBytes(GzipHeader({.name = std::string(511, 'n')}))).ok());
  EXPECT_FALSE(ParseMemberHeader(AsBytes(GzipHeader({.name = std::string(512, 'n')}))).ok());
}

TEST(GzipHeader, KnowsAZlibStream) {
  const Result<MemberHeader> header = ParseMemberHeader(AsBytes("\x78\x9c"));
  ASSERT_TRUE(header.ok());
  EXPECT_EQ(header->kind, MemberKind::kZlib);
  EXPECT_EQ(header->size, 2u);
}

}  // namespace
}  // namespace soci::test
