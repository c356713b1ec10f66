// Every span of every golden layer decodes, by itself, to what the layer holds there.
#include <gtest/gtest.h>

#include "indexer/base/byte_source.h"
#include "indexer/base/byte_stream.h"
#include "indexer/codec/span_decoder.h"
#include "indexer/ztoc/layer_scanner.h"
#include "tests/golden/layers/golden_layer.h"

namespace soci::golden {
namespace {

class AnyLayer : public ::testing::TestWithParam<Layer> {};

TEST_P(AnyLayer, HasSpansThatDecodeToItsTar) {
  const Layer& layer = GetParam();
  const std::string blob = ReadBlob(layer);
  const auto source = MakeMemorySource(blob);
  const auto stream = MakeSourceStream(*source, {});
  const Result<ScannedLayer> scanned = ScanLayer(*stream, layer.compression, {.span_size = layer.span_size});
  ASSERT_TRUE(scanned.ok()) << scanned.status();

  const ZtocDraft& ztoc = scanned->ztoc;
  const bool is_gzip = layer.compression == Compression::kGzip;
  const std::string tar = Decoded(layer, blob);
  const std::vector<SpanExtent> spans = ztoc.Spans();
  const SpanDecoder& decoder = DecoderFor(ztoc.compression);
  for (size_t i = 0; i < spans.size(); ++i) {
    SCOPED_TRACE(i);
    const ByteSpan window = is_gzip ? ByteSpan(ztoc.windows[i]) : ByteSpan();
    const ByteSpan compressed = AsBytes(blob).subspan(spans[i].compressed.begin, spans[i].compressed.size());
    EXPECT_EQ(oci::Digest::Of(compressed), ztoc.span_digests[i]);
    std::string out(spans[i].uncompressed.size(), '?');
    const Status status = decoder.Decode(spans[i], window, compressed, std::as_writable_bytes(std::span(out)));
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_TRUE(out == tar.substr(spans[i].uncompressed.begin, out.size()));
    if (i + 1 < spans.size()) continue;
    std::string rest;
    const Status to_end = decoder.DecodeToEnd(spans[i], window, compressed, [&rest](ByteSpan bytes) {
      rest += AsText(bytes);
      return OkStatus();
    });
    ASSERT_TRUE(to_end.ok()) << to_end;
    EXPECT_TRUE(rest == tar.substr(spans[i].uncompressed.begin));
  }
}

INSTANTIATE_TEST_SUITE_P(Golden, AnyLayer, ::testing::ValuesIn(LayersWhere(true)), TestName);

}  // namespace
}  // namespace soci::golden
