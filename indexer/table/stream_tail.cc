#include "indexer/table/stream_tail.h"

#include <fmt/format.h>

#include <algorithm>

#include "indexer/codec/span_decoder.h"

namespace soci {
namespace {

constexpr uint64_t kMostCompressed = uint64_t{256} << 20;

}  // namespace

Status ReadStreamTail(const LayerTable& table, const ByteSource& layer, const FetchContext& context,
                      const std::function<Status(ByteSpan)>& sink) {
  if (table.compression() != Compression::kGzip || table.span_count() == 0) return OkStatus();
  if (layer.size() != table.compressed_size()) {
    return absl::DataLossError(
        fmt::format("the layer has {} bytes instead of {}", layer.size(), table.compressed_size()));
  }
  const SpanId last{table.span_count() - 1};
  SpanExtent extent = table.Extent(last);
  extent.compressed.end = table.compressed_size();  // an empty span may follow, which the table leaves out
  if (extent.compressed.size() > kMostCompressed) return absl::ResourceExhaustedError("the last span is too large");
  ByteBuffer compressed(extent.compressed.size());
  SOCI_RETURN_IF_ERROR(layer.ReadAt(extent.compressed.begin, compressed, context));
  Window window;
  SOCI_RETURN_IF_ERROR(table.LoadWindow(last, window));
  uint64_t skip = extent.uncompressed.size();
  return DecoderFor(table.compression()).DecodeToEnd(extent, window, compressed, [&](ByteSpan bytes) {
    const size_t known = static_cast<size_t>(std::min<uint64_t>(skip, bytes.size()));
    skip -= known;
    return known == bytes.size() ? OkStatus() : sink(bytes.subspan(known));
  });
}

}  // namespace soci
