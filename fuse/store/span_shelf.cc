#include "fuse/store/span_shelf.h"

#include <numeric>

namespace soci {

SpanShelf::SpanShelf(std::vector<uint64_t> charges)
    : charges_(std::move(charges)),
      total_(std::accumulate(charges_.begin(), charges_.end(), uint64_t{0})),
      marks_(charges_.size()) {}

bool SpanShelf::Put(SpanId span, bool was_read) {
  const uint8_t before = marks_[ToIndex(span)].exchange(was_read ? kJustRead : kJustFetched);
  if ((before & kUnread) != 0) unread_ -= Charge(span);
  if (!was_read) unread_ += Charge(span);
  return before == kAbsent;
}

void SpanShelf::TouchFirst(SpanId span, uint8_t mark) {
  Mark& place = marks_[ToIndex(span)];
  while (mark >= kHeld && mark != kJustRead) {
    if (!place.compare_exchange_weak(mark, kJustRead)) continue;
    if ((mark & kUnread) != 0) unread_ -= Charge(span);
    return;
  }
}

SpanShelf::Visit SpanShelf::Age(SpanId span) {
  Mark& place = marks_[ToIndex(span)];
  uint8_t mark = place.load(std::memory_order_relaxed);
  while (mark >= kHeld) {
    const bool chosen = (mark & kLives) == 0;
    if (!place.compare_exchange_weak(mark, chosen ? kGoing : static_cast<uint8_t>(mark - 1))) continue;
    if (!chosen) return Visit::kPassed;
    if ((mark & kUnread) != 0) unread_ -= Charge(span);
    return Visit::kChosen;
  }
  return Visit::kNotHeld;
}

void SpanShelf::Remove(SpanId span) { marks_[ToIndex(span)] = kAbsent; }

void SpanShelf::Spare(SpanId span) { marks_[ToIndex(span)] = kJustRead; }

}  // namespace soci
