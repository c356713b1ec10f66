// Cuts the bytes of one range into the compressed spans it was asked for, as they come.
//
// Holds one span's bytes at a time, and none before they come: what is buffered is bounded by the largest compressed
// span, not by the range.
// Neighbouring gzip spans may share a byte, which is then given to both. One thread at a time.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "fuse/store/span_memory.h"
#include "indexer/base/bytes.h"
#include "indexer/base/ranges.h"
#include "indexer/base/result.h"

namespace soci {

struct CompressedBytes {
  SpanMemory bytes;
  size_t size = 0;

  ByteSpan view() const { return {bytes.get(), size}; }
};

class RangeAssembler {
 public:
  // Receives the number of the span within the range, and its bytes.
  using Deliver = std::function<void(size_t index, CompressedBytes bytes)>;

  // Whether `next` can follow `previous` in one range: no gap, and no more than one byte in common.
  static bool Joins(const CompressedRange& previous, const CompressedRange& next);

  // At least one span; each joins its predecessor.
  explicit RangeAssembler(std::vector<CompressedRange> spans);

  // What to ask for.
  CompressedRange range() const { return {spans_.front().begin, spans_.back().end}; }

  // The range's next bytes. kOutOfRange if they are more than it has.
  Status Push(ByteSpan bytes, const Deliver& deliver);

  bool complete() const { return index_ == spans_.size(); }

 private:
  void StartSpan(ByteSpan tail);
  void EnsureMemory();
  void DeliverComplete(const Deliver& deliver);

  const std::vector<CompressedRange> spans_;
  size_t index_ = 0;  // of the span being filled
  CompressedBytes current_;
  std::byte shared_{};  // the first byte, if it was the last of the span before
  size_t filled_ = 0;
};

}  // namespace soci
