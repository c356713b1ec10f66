#include "fuse/store/span_pieces.h"

namespace soci {

Status ForEachPiece(const LayerTable& table, UncompressedRange range,
                    const std::function<Status(const SpanPiece&)>& visit) {
  uint64_t at = range.begin;
  const auto residue_until = [&](uint64_t end) {
    if (at >= end) return OkStatus();
    const UncompressedRange gap{at, end};
    at = end;
    return visit({InodeId{}, gap, gap});
  };
  for (uint64_t i = table.FirstContentEndingAfter(range.begin); i < table.content_count(); ++i) {
    const FileContent content = table.Content(i);
    if (content.range.begin >= range.end) break;
    if (ToNumber(content.inode) == 0) continue;
    const UncompressedRange part = content.range.Intersect(range);
    SOCI_RETURN_IF_ERROR(residue_until(part.begin));
    SOCI_RETURN_IF_ERROR(visit({content.inode, part, content.range}));
    at = part.end;
  }
  return residue_until(range.end);
}

uint64_t ResidueSize(const LayerTable& table, UncompressedRange range) {
  uint64_t size = 0;
  (void)ForEachPiece(table, range, [&](const SpanPiece& piece) {
    if (piece.is_residue()) size += piece.range.size();
    return OkStatus();
  });
  return size;
}

}  // namespace soci
