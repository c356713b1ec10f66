#include "indexer/base/crc32c.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace soci {
namespace {

// The check values of RFC 3720, B.4.
TEST(Crc32c, GivesThePublishedValues) {
  EXPECT_EQ(Crc32c(AsBytes(std::string(32, '\0'))), 0x8a9136aau);
  EXPECT_EQ(Crc32c(AsBytes(std::string(32, '\xff'))), 0x62a8ab43u);
  EXPECT_EQ(Crc32c(AsBytes("123456789")), 0xe3069283u);
  EXPECT_EQ(Crc32c({}), 0u);
}

TEST(Crc32c, GoesOnWhereItStopped) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text.push_back(static_cast<char>(i * 7));
  const uint32_t whole = Crc32c(AsBytes(text));
  for (size_t cut = 0; cut <= text.size(); cut += 13) {
    EXPECT_EQ(Crc32c(AsBytes(text.substr(cut)), Crc32c(AsBytes(text.substr(0, cut)))), whole);
  }
}

TEST(Crc32c, MuchAtOnceGivesWhatPiecesGive) {
  std::string text;
  for (uint32_t i = 0; i < 100'000; ++i) text.push_back(static_cast<char>((i * 2654435761u) >> 24));
  for (const size_t size : {size_t{12'287}, size_t{12'288}, size_t{12'289}, size_t{50'000}, text.size()}) {
    uint32_t in_pieces = 0x12345678;
    for (size_t at = 0; at < size; at += 1000) {
      in_pieces = Crc32c(AsBytes(std::string_view(text).substr(at, std::min<size_t>(1000, size - at))), in_pieces);
    }
    EXPECT_EQ(Crc32c(AsBytes(std::string_view(text).substr(0, size)), 0x12345678), in_pieces) << size;
  }
}

}  // namespace
}  // namespace soci
