#include "indexer/codec/checkpoint.h"

#include <algorithm>

namespace soci {

std::vector<SpanExtent> SpansOf(const std::vector<Checkpoint>& checkpoints, uint64_t compressed_size,
                                uint64_t uncompressed_size) {
  std::vector<SpanExtent> spans;
  spans.reserve(checkpoints.size());
  for (size_t i = 0; i < checkpoints.size(); ++i) {
    const Checkpoint& start = checkpoints[i];
    const bool last = i + 1 == checkpoints.size();
    const uint64_t compressed_end = last ? compressed_size : checkpoints[i + 1].compressed;
    // Padding after the archive may hold checkpoints of its own: they lie past its end.
    const uint64_t end = last ? std::max(start.uncompressed, uncompressed_size) : checkpoints[i + 1].uncompressed;
    spans.push_back({.compressed = {start.compressed - (start.bits != 0 ? 1 : 0), compressed_end},
                     .uncompressed = {start.uncompressed, end},
                     .bits = start.bits});
  }
  return spans;
}

std::vector<SpanExtent> PlainSpans(uint64_t span_size, uint64_t size) {
  std::vector<SpanExtent> spans;
  if (span_size == 0) return spans;
  for (uint64_t begin = 0, end = 0; begin < size; begin = end) {
    end = begin + std::min(span_size, size - begin);
    spans.push_back({.compressed = {begin, end}, .uncompressed = {begin, end}, .bits = 0});
  }
  return spans;
}

}  // namespace soci
