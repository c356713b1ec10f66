#include "indexer/net/content_range.h"

#include <gtest/gtest.h>

namespace soci {
namespace {

TEST(ContentRange, ReadsBytesWithAndWithoutTotal) {
  EXPECT_EQ(ParseContentRange("bytes 0-99/1000"), (ContentRange{0, 100, 1000}));
  EXPECT_EQ(ParseContentRange(" Bytes  5-5/* "), (ContentRange{5, 6, std::nullopt}));
}

TEST(ContentRange, RefusesWhatIsNoRange) {
  for (const char* text : {"", "bytes", "bytes ", "bytes */1000", "bytes 5-4/10", "bytes 0-10/10", "items 0-1/2",
                           "bytes0-1/2", "bytes 0-1", "bytes -1/2", "bytes 0-/2", "bytes 0-1/", "bytes +0-1/2",
                           "bytes 0-1/2x", "bytes 0-18446744073709551615/*", "bytes 0-18446744073709551616/*"}) {
    EXPECT_FALSE(ParseContentRange(text)) << text;
  }
}

}  // namespace
}  // namespace soci
