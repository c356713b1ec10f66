#include "indexer/table/layer_spans.h"

#include <fmt/format.h>

#include <algorithm>

namespace soci::table {
namespace {

constexpr uint64_t kMaxLayerSize = uint64_t{1} << 48;

// Deflate makes at most 1032 bytes of one, and a span may start in the middle of a byte.
bool CanExpandTo(uint64_t compressed, uint64_t uncompressed) { return uncompressed / 1032 <= compressed + 1; }

Status Refuse(size_t span, std::string_view why) {
  return absl::InvalidArgumentError(fmt::format("span {} {}", span, why));
}

Status CheckGzipCheckpoint(const ZtocView& ztoc, size_t i) {
  const Checkpoint& point = ztoc.checkpoints[i];
  if (point.bits > 7) return Refuse(i, "starts at an impossible bit");
  if (point.compressed < (point.bits != 0 ? 2u : 1u) || point.compressed > ztoc.compressed_size) {
    return Refuse(i, "starts outside the layer");
  }
  if (i == 0) return point.uncompressed == 0 ? OkStatus() : Refuse(i, "does not start the layer");
  const Checkpoint& before = ztoc.checkpoints[i - 1];
  if (point.compressed < before.compressed) return Refuse(i, "goes backwards");
  if (point.compressed == before.compressed && point.bits >= before.bits) return Refuse(i, "goes backwards");
  // Equal only before the first byte: an empty first block or member.
  if (point.uncompressed < before.uncompressed) return Refuse(i, "goes backwards");
  if (point.uncompressed == before.uncompressed && point.uncompressed != 0)
    return Refuse(i, "repeats the one before it");
  return OkStatus();
}

Result<std::vector<LayerSpan>> GzipSpans(const ZtocView& ztoc) {
  const size_t count = ztoc.checkpoints.size();
  if (count == 0) return absl::InvalidArgumentError("a gzip layer without checkpoints");
  if (ztoc.windows.size() != count || ztoc.span_digests.size() != count) {
    return absl::InvalidArgumentError(fmt::format("{} checkpoints, but {} windows and {} span digests", count,
                                                  ztoc.windows.size(), ztoc.span_digests.size()));
  }
  for (size_t i = 0; i < count; ++i) SOCI_RETURN_IF_ERROR(CheckGzipCheckpoint(ztoc, i));
  std::vector<LayerSpan> spans;
  for (size_t i = 0; i < count; ++i) {
    const Checkpoint& point = ztoc.checkpoints[i];
    SpanExtent extent;
    extent.bits = point.bits;
    extent.compressed.begin = point.compressed - (point.bits != 0 ? 1 : 0);
    extent.uncompressed.begin = point.uncompressed;
    if (i + 1 < count) {
      extent.compressed.end = ztoc.checkpoints[i + 1].compressed;
      extent.uncompressed.end = ztoc.checkpoints[i + 1].uncompressed;
    } else {
      extent.compressed.end = ztoc.compressed_size;
      extent.uncompressed.end = std::max(ztoc.uncompressed_size, point.uncompressed);
    }
    if (extent.uncompressed.empty()) continue;
    if (!CanExpandTo(extent.compressed.size(), extent.uncompressed.size())) {
      return Refuse(i, "claims to expand more than deflate can");
    }
    if (spans.empty() && std::any_of(ztoc.windows[i].begin(), ztoc.windows[i].end(),
                                     [](std::byte byte) { return byte != std::byte{0}; })) {
      return Refuse(i, "has a window before the first byte");
    }
    spans.push_back({extent, ztoc.span_digests[i], ztoc.windows[i]});
  }
  return spans;
}

Result<std::vector<LayerSpan>> PlainTarSpans(const ZtocView& ztoc) {
  // The stream's end, not the archive's: what follows the archive has to be hashed too.
  const uint64_t size = ztoc.compressed_size;
  if (size == 0) return std::vector<LayerSpan>();
  if (ztoc.span_size == 0) return absl::InvalidArgumentError("the span size is 0");
  const uint64_t count = (size - 1) / ztoc.span_size + 1;
  if (count != ztoc.span_digests.size()) {
    return absl::InvalidArgumentError(fmt::format("{} span digests for {} spans", ztoc.span_digests.size(), count));
  }
  std::vector<LayerSpan> spans;
  spans.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    SpanExtent extent;
    extent.compressed = {i * ztoc.span_size, i + 1 < count ? (i + 1) * ztoc.span_size : size};
    extent.uncompressed = {extent.compressed.begin, extent.compressed.end};
    spans.push_back({extent, ztoc.span_digests[i], {}});
  }
  return spans;
}

}  // namespace

Result<std::vector<LayerSpan>> CheckedSpans(const ZtocView& ztoc) {
  if (ztoc.compressed_size > kMaxLayerSize || ztoc.uncompressed_size > kMaxLayerSize) {
    return absl::InvalidArgumentError("a layer of an absurd size");
  }
  const bool gzip = ztoc.compression == Compression::kGzip;
  if (!gzip && ztoc.compression != Compression::kUncompressed) {
    return absl::InvalidArgumentError("an unknown compression");
  }
  SOCI_ASSIGN_OR_RETURN(std::vector<LayerSpan> spans, gzip ? GzipSpans(ztoc) : PlainTarSpans(ztoc));
  if (!gzip && ztoc.uncompressed_size > ztoc.compressed_size) {
    return absl::InvalidArgumentError("the archive ends after the layer does");
  }
  for (size_t i = 0; i < spans.size(); ++i) {
    if (spans[i].extent.uncompressed.size() > kMaxSpanSize) return Refuse(i, "is too large to be decoded in memory");
    if (spans[i].extent.compressed.empty()) return Refuse(i, "has no compressed bytes");
  }
  return spans;
}

}  // namespace soci::table
