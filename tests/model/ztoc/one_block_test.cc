// A compressor that never ends a block makes one span of a whole layer. Its zTOC is the reference tool's and is exact;
// the snapshotter, which decodes spans in memory, refuses a table of it and unpacks the layer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "indexer/base/units.h"
#include "indexer/index/verify_layer.h"
#include "indexer/oci/annotations.h"
#include "indexer/table/layer_spans.h"
#include "indexer/ztoc/layer_scanner.h"
#include "tests/gzip/gzip_maker.h"
#include "tests/gzip/scanned_gzip.h"
#include "tests/gzip/zlib_oracle.h"
#include "tests/support/tar_builder.h"
#include "tests/ztoc/ztoc_value.h"

namespace soci::test {
namespace {

TEST(OneBlock, OfMoreThanASpanMayHoldIsIndexedExactlyAndLeftToUnpacking) {
  const std::string tar = TarBuilder().File("zeros", std::string(table::kMaxSpanSize + 1_MiB, '\0')).Finish();
  const std::string blob = GzipMember(tar, {.compressor = Compressor::kIgzip, .level = 0});
  TextStream stream(blob);
  const Result<ScannedLayer> scanned = ScanLayer(stream, Compression::kGzip, {});
  ASSERT_TRUE(scanned.ok()) << scanned.status();
  EXPECT_EQ(scanned->WhyNotExact(), nullptr);
  ASSERT_EQ(scanned->ztoc.checkpoints.size(), 1u);
  EXPECT_EQ(AskZlib(blob, 4_MiB)->checkpoints, scanned->ztoc.checkpoints);
  const Result<test::Ztoc> ztoc = test::DecodeZtoc(*EncodeZtoc(scanned->ztoc));
  ASSERT_TRUE(ztoc.ok()) << ztoc.status();
  const oci::Descriptor layer{.media_type = std::string(oci::kMediaTypeLayerGzip),
                              .digest = oci::Digest::Of(blob),
                              .size = static_cast<int64_t>(blob.size())};
  const auto source = MakeMemorySource(blob);
  EXPECT_THAT(VerifyLayer(*source, layer, *ztoc, scanned->diff_id, {}, {}).value().lines(), testing::IsEmpty());
  EXPECT_THAT(std::string(Message(table::CheckedSpans(*ztoc).status())),
              testing::HasSubstr("span 0 is too large to be decoded in memory"));
  // A lie in such a span is found as in any other.
  test::Ztoc false_one = *ztoc;
  false_one.span_digests[0] = oci::Digest::Of("x");
  EXPECT_THAT(VerifyLayer(*source, layer, false_one, scanned->diff_id, {}, {}).value().lines(),
              testing::ElementsAre("span 0: its bytes do not match its digest"));
}

}  // namespace
}  // namespace soci::test
