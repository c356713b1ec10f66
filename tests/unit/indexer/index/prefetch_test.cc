#include "indexer/index/prefetch.h"

#include <gtest/gtest.h>

#include "indexer/oci/digest.h"
#include "tests/ztoc/ztoc_value.h"

namespace soci {
namespace {

tar::Entry Entry(const std::string& name, uint64_t start, int64_t size) {
  tar::Entry entry;
  entry.name = name;
  entry.size = size;
  entry.header = {start - 512, start};
  return entry;
}

TEST(CleanPath, MeansWhatTheReferenceToolMeans) {
  EXPECT_EQ(CleanPath(" /usr//lib/./x/../y \n"), "usr/lib/y");
  EXPECT_EQ(CleanPath("./a"), "a");
  EXPECT_EQ(CleanPath("../../a"), "a");
  EXPECT_EQ(CleanPath("/"), "");
  EXPECT_EQ(CleanPath(""), "");
}

TEST(FindSpans, TakesTheFirstEntryWithExactlyThatName) {
  test::Ztoc ztoc;
  ztoc.compression = Compression::kUncompressed;
  ztoc.span_size = 1000;
  ztoc.entries = {Entry("./a", 512, 10), Entry("a", 1536, 464), Entry("a", 5000, 10)};
  const auto found = FindSpans(ztoc, *ZtocView(ztoc).entries, {"a", "b"});
  EXPECT_EQ(found[0], (SpanIdRange{1, 2}));  // it ends where span 2 begins, which counts as touched
  EXPECT_EQ(found[1], std::nullopt);
}

TEST(FindSpans, GzipSpansAreFoundByTheirCheckpoints) {
  test::Ztoc ztoc;
  ztoc.checkpoints = {{10, 0, 0}, {500, 2000, 3}, {900, 4000, 0}};
  ztoc.entries = {Entry("a", 512, 1488), Entry("b", 1999, 0), Entry("c", 4000, 1 << 20)};
  const auto found = FindSpans(ztoc, *ZtocView(ztoc).entries, {"a", "b", "c"});
  EXPECT_EQ(found[0], (SpanIdRange{0, 1}));
  EXPECT_EQ(found[1], (SpanIdRange{0, 0}));
  EXPECT_EQ(found[2], (SpanIdRange{2, 2}));
}

TEST(MergeRanges, OverlappingAndTouchingRangesAreOne) {
  EXPECT_EQ(MergeRanges({{7, 7}, {1, 2}, {0, 1}, {3, 3}, {5, 5}}), (std::vector<SpanIdRange>{{0, 3}, {5, 5}, {7, 7}}));
  EXPECT_TRUE(MergeRanges({}).empty());
}

TEST(PrefetchArtifactJson, IsTheBytesOfTheReferenceTool) {
  const std::string json = PrefetchArtifactJson({{0, 2}, {7, 7}});
  EXPECT_EQ(json.size(), 96u);
  EXPECT_EQ(oci::Digest::Of(json).Hex(), "83214187deaacd41e45c18d0b3966b03bacdb2e257af160a0c80d6bc552bcd44");
}

}  // namespace
}  // namespace soci
