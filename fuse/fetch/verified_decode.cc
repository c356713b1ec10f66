#include "fuse/fetch/verified_decode.h"

namespace soci {

bool MatchesDigest(const LayerTable& table, SpanId span, ByteSpan compressed) {
  return oci::Digest::Of(compressed) == table.SpanDigest(span);
}

Result<std::shared_ptr<const SpanBuffer>> DecodeMatching(const LayerTable& table, const SpanDecoder& decoder,
                                                         SpanId span, ByteSpan compressed) {
  SpanExtent extent = table.Extent(span);
  auto buffer = std::make_shared<SpanBuffer>();
  buffer->range = extent.uncompressed;
  size_t size = static_cast<size_t>(extent.uncompressed.size());
  buffer->bytes = TakeSpanMemory(size);
  if (!buffer->bytes) return absl::ResourceExhaustedError("no memory for a decoded span");

  Window window;
  ByteSpan before;
  if (table.compression() != Compression::kUncompressed) {
    SOCI_RETURN_IF_ERROR(table.LoadWindow(span, window));
    before = window;
  }
  SOCI_RETURN_IF_ERROR(decoder.Decode(extent, before, compressed, {buffer->bytes.get(), size}));
  return std::shared_ptr<const SpanBuffer>(std::move(buffer));
}

}  // namespace soci
