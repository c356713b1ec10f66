#include "indexer/codec/checkpoint.h"

#include <gtest/gtest.h>

namespace soci {
namespace {

TEST(Spans, ShareTheByteInWhichACheckpointLies) {
  const std::vector<SpanExtent> spans = SpansOf({{10, 0, 0}, {2577, 2560, 6}, {5230, 5120, 0}}, 6778, 5632);
  const std::vector<SpanExtent> expected{
      {{10, 2577}, {0, 2560}, 0}, {{2576, 5230}, {2560, 5120}, 6}, {{5230, 6778}, {5120, 5632}, 0}};
  EXPECT_EQ(spans, expected);
}

TEST(Spans, AreEmptyWhenTheyLieInThePaddingAfterTheArchive) {
  const std::vector<SpanExtent> spans = SpansOf({{10, 0, 0}, {500, 9000, 0}}, 600, 2048);
  EXPECT_EQ(spans[1].uncompressed, (UncompressedRange{9000, 9000}));
}

TEST(Spans, OfAPlainTarAreOfOneSizeButTheLast) {
  const std::vector<SpanExtent> expected{
      {{0, 2500}, {0, 2500}, 0}, {{2500, 5000}, {2500, 5000}, 0}, {{5000, 6656}, {5000, 6656}, 0}};
  EXPECT_EQ(PlainSpans(2500, 6656), expected);
  EXPECT_EQ(PlainSpans(3328, 6656).size(), 2u);
  EXPECT_TRUE(PlainSpans(4096, 0).empty());
  EXPECT_TRUE(PlainSpans(0, 100).empty());
  EXPECT_EQ(PlainSpans(~uint64_t{0}, ~uint64_t{0} - 1).size(), 1u);
}

}  // namespace
}  // namespace soci
