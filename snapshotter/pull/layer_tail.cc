#include "snapshotter/pull/layer_tail.h"

#include <fmt/format.h>

#include <algorithm>

#include "indexer/base/byte_source.h"
#include "indexer/codec/span_decoder.h"
#include "indexer/table/layer_table.h"

namespace soci {
namespace {

constexpr uint64_t kLargestSpan = 256 << 20;  // compressed; as the fetcher's limit

}  // namespace

Status ReadLayerTail(const LayerTable& table, const ByteSource& layer, const FetchContext& context,
                     const std::function<Status(ByteSpan)>& sink) {
  if (table.span_count() == 0) return absl::FailedPreconditionError("the layer has no spans");
  const SpanId last = static_cast<SpanId>(table.span_count() - 1);
  const SpanExtent extent = table.Extent(last);
  if (extent.compressed.size() > kLargestSpan) return absl::ResourceExhaustedError("the last span is too large");
  ByteBuffer compressed(extent.compressed.size());
  SOCI_RETURN_IF_ERROR(layer.ReadAt(extent.compressed.begin, compressed, context));
  if (oci::Digest::Of(ByteSpan(compressed)) != table.SpanDigest(last)) {
    return absl::DataLossError(fmt::format("span {} does not match its digest", ToIndex(last)));
  }
  Window window;
  SOCI_RETURN_IF_ERROR(table.LoadWindow(last, window));
  uint64_t known = extent.uncompressed.size();  // these bytes are the span's own
  return DecoderFor(table.compression()).DecodeToEnd(extent, window, compressed, [&](ByteSpan bytes) -> Status {
    const size_t skipped = static_cast<size_t>(std::min<uint64_t>(known, bytes.size()));
    known -= skipped;
    bytes = bytes.subspan(skipped);
    return bytes.empty() ? OkStatus() : sink(bytes);
  });
}

}  // namespace soci
