#include "indexer/base/crc32c.h"

#include <gtest/gtest.h>

#include <string>

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

}  // namespace
}  // namespace soci
