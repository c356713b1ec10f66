#include "fuse/store/eviction_clock.h"

namespace soci {
namespace {

constexpr int kMostRounds = 16;  // more than a span has lives; readers give them back meanwhile

}  // namespace

std::optional<EvictionClock::Victim> EvictionClock::Next(const std::vector<SpanShelf*>& shelves) {
  if (shelves.empty()) return std::nullopt;
  bool any_held = true;
  for (int round = 0; round < kMostRounds && any_held; ++round) {
    any_held = false;
    // One more than there are: the hand starts in the middle of one.
    for (size_t i = 0; i <= shelves.size(); ++i, ++shelf_, span_ = 0) {
      if (shelf_ >= shelves.size()) shelf_ = span_ = 0;
      SpanShelf& shelf = *shelves[shelf_];
      while (span_ < shelf.span_count()) {
        const SpanId span{span_++};
        const SpanShelf::Visit visit = shelf.Age(span);
        if (visit == SpanShelf::Visit::kChosen) return Victim{shelf_, span};
        any_held = any_held || visit == SpanShelf::Visit::kPassed;
      }
    }
  }
  return std::nullopt;
}

}  // namespace soci
