#include "indexer/base/ranges.h"

#include <gtest/gtest.h>

namespace soci {
namespace {

TEST(Range, IntersectOfRangesApartIsEmpty) { EXPECT_TRUE((CompressedRange{0, 4}).Intersect({6, 9}).empty()); }

TEST(Range, ContainsIsHalfOpen) {
  const UncompressedRange range{2, 4};
  EXPECT_FALSE(range.Contains(1));
  EXPECT_TRUE(range.Contains(2));
  EXPECT_FALSE(range.Contains(4));
}

}  // namespace
}  // namespace soci
