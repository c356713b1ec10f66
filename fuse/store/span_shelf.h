// What the cache's limit knows of one layer: what each span takes on the disk, which of them are there, and how well
// each has deserved its place.
//
// A span is absent, held, or going (somebody was told to evict it). A held one has a number of lives; it loses one
// whenever the limit looks for a victim and passes it, and gets some back when it is read. One that was fetched ahead
// of its use has more of them than one that was read: it shall live to be read. Any thread; no lock.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "indexer/base/ranges.h"

namespace soci {

class SpanShelf {
 public:
  // `charges`: for each span the most that it takes, in bytes of whole blocks.
  explicit SpanShelf(std::vector<uint64_t> charges);

  uint32_t span_count() const { return static_cast<uint32_t>(charges_.size()); }
  uint64_t Charge(SpanId span) const { return charges_[ToIndex(span)]; }
  uint64_t total() const { return total_; }
  // Of the held spans that nobody has read since they came, and that may still hope for it.
  uint64_t unread_bytes() const { return unread_.load(std::memory_order_relaxed); }

  // The span is written. False if it was held already. Not beside Remove or Spare of the same span.
  bool Put(SpanId span, bool was_read);
  // It was read from. One relaxed load, mostly.
  void Touch(SpanId span) {
    const uint8_t mark = marks_[ToIndex(span)].load(std::memory_order_relaxed);
    if (mark >= kHeld && mark != kJustRead) TouchFirst(span, mark);
  }

  enum class Visit { kNotHeld, kPassed, kChosen };
  // The limit looks for a victim: a held span without lives is it, and is going; another one has a life less.
  Visit Age(SpanId span);
  bool IsGoing(SpanId span) const { return marks_[ToIndex(span)].load(std::memory_order_relaxed) == kGoing; }
  // It has gone: absent.
  void Remove(SpanId span);
  // It could not go: held, as if it was read.
  void Spare(SpanId span);

 private:
  using Mark = std::atomic<uint8_t>;
  static constexpr uint8_t kAbsent = 0;
  static constexpr uint8_t kGoing = 1;
  static constexpr uint8_t kHeld = 0x10;  // and lives in the bits below
  static constexpr uint8_t kUnread = 0x20;
  static constexpr uint8_t kLives = 0x0f;
  static constexpr uint8_t kJustRead = kHeld | 2;
  static constexpr uint8_t kJustFetched = kHeld | kUnread | 6;

  void TouchFirst(SpanId span, uint8_t mark);

  const std::vector<uint64_t> charges_;
  uint64_t total_ = 0;
  std::vector<Mark> marks_;
  std::atomic<uint64_t> unread_{0};
};

}  // namespace soci
