#include "fuse/fetch/fill_cursor.h"

#include <algorithm>

namespace soci {
namespace {

// Longer than a program that is starting up goes without a miss, mostly.
constexpr std::chrono::seconds kNearTheProgram{1};

}  // namespace

void FillCursor::MoveTo(SpanId span, Clock::TimePoint now) {
  position_ = span;
  home_at_ = now + kNearTheProgram;
  near_left_ = near_;
}

std::optional<SpanId> FillCursor::Next(Clock::TimePoint now) {
  std::optional<Clock::TimePoint> due = NextDue();
  if (due && *due <= now) {
    std::erase_if(delayed_, [&](const auto& entry) { return entry.second <= now; });
    exhausted_ = false;
  }
  if (exhausted_) return std::nullopt;
  if (home_at_ && (*home_at_ <= now || near_left_ == 0)) {
    position_ = SpanId{0};
    home_at_.reset();
  }
  std::optional<SpanId> found = FindFrom(position_, now);
  if (!found && position_ != SpanId{0}) found = FindFrom(SpanId{0}, now);
  exhausted_ = !found;
  if (found) position_ = *found;
  return found;
}

std::vector<SpanId> FillCursor::NextRange(Clock::TimePoint now, uint64_t limit) {
  std::vector<SpanId> spans;
  std::optional<SpanId> first = Next(now);
  if (!first) return spans;
  spans.push_back(*first);
  uint64_t begin = table_.Extent(*first).compressed.begin;
  for (SpanId next = soci::Next(*first); ToIndex(next) < table_.span_count(); next = soci::Next(next)) {
    if (store_.IsPresent(next) || !IsFree(next, now)) break;
    if (!flights_.Extends(spans.back(), next, begin, limit)) break;
    spans.push_back(next);
  }
  const uint64_t taken = table_.Extent(spans.back()).compressed.end - begin;
  near_left_ -= std::min(near_left_, taken);
  position_ = soci::Next(spans.back());
  return spans;
}

void FillCursor::Delay(SpanId span, Clock::TimePoint until) {
  delayed_[span] = until;
  exhausted_ = false;
}

std::optional<Clock::TimePoint> FillCursor::NextDue() const {
  std::optional<Clock::TimePoint> due;
  for (const auto& [span, until] : delayed_) due = due ? std::min(*due, until) : until;
  return due;
}

bool FillCursor::IsFree(SpanId span, Clock::TimePoint now) const {
  if (flights_.Find(span)) return false;
  auto delayed = delayed_.find(span);
  return delayed == delayed_.end() || delayed->second <= now;
}

std::optional<SpanId> FillCursor::FindFrom(SpanId from, Clock::TimePoint now) const {
  std::optional<SpanId> missing = store_.NextMissing(from);
  while (missing && !IsFree(*missing, now)) missing = store_.NextMissing(soci::Next(*missing));
  return missing;
}

}  // namespace soci
