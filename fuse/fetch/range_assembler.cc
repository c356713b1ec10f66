#include "fuse/fetch/range_assembler.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace soci {

bool RangeAssembler::Joins(const CompressedRange& previous, const CompressedRange& next) {
  if (previous.empty() || next.empty()) return false;
  return next.begin == previous.end || next.begin + 1 == previous.end;
}

RangeAssembler::RangeAssembler(std::vector<CompressedRange> spans) : spans_(std::move(spans)) { StartSpan({}); }

Status RangeAssembler::Push(ByteSpan bytes, const Deliver& deliver) {
  DeliverComplete(deliver);
  while (!bytes.empty()) {
    if (complete()) return absl::OutOfRangeError("the source sends more than was asked for");
    EnsureMemory();
    if (!current_.bytes) return absl::ResourceExhaustedError("no memory for a compressed span");
    size_t taken = std::min(bytes.size(), current_.size - filled_);
    std::memcpy(current_.bytes.get() + filled_, bytes.data(), taken);
    filled_ += taken;
    bytes = bytes.subspan(taken);
    DeliverComplete(deliver);
  }
  return OkStatus();
}

// `tail`: the last bytes of the span before, of which the new one may want one.
void RangeAssembler::StartSpan(ByteSpan tail) {
  const CompressedRange& range = spans_[index_];
  current_.size = static_cast<size_t>(range.size());
  filled_ = 0;
  if (index_ == 0 || range.begin >= spans_[index_ - 1].end || tail.empty()) return;
  shared_ = tail.back();
  filled_ = 1;
}

void RangeAssembler::EnsureMemory() {
  if (current_.bytes) return;
  current_.bytes = TakeSpanMemory(current_.size);
  if (current_.bytes && filled_ == 1) current_.bytes[0] = shared_;
}

void RangeAssembler::DeliverComplete(const Deliver& deliver) {
  while (!complete() && filled_ == current_.size) {
    EnsureMemory();  // for a span of no bytes, or of one that it shares
    CompressedBytes done = std::move(current_);
    size_t index = index_++;
    if (!complete()) StartSpan(done.view());
    deliver(index, std::move(done));
  }
}

}  // namespace soci
