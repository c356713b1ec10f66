#include "snapshotter/replay/replay_cursor.h"

#include <algorithm>

namespace soci {
namespace {

constexpr int kMostFailures = 5;

// A record is judged when the program has needed this many spans, and is wrong if fewer than a quarter are in it.
constexpr uint64_t kTrial = 24;
constexpr uint64_t kLeastRightShare = 4;

}  // namespace

ReplayCursor::Span* ReplayCursor::Find(uint32_t layer, SpanId span) {
  const auto found = spans_.find({layer, span});
  return found == spans_.end() ? nullptr : &found->second;
}

void ReplayCursor::Add(const std::vector<ReplayStep>& steps) {
  for (const ReplayStep& step : steps) {
    for (uint32_t i = 0; i < step.count; ++i) {
      const SpanId span{ToIndex(step.first) + i};
      const auto [place, is_new] = spans_.try_emplace({step.layer, span}, Span{step.position, State::kWaiting});
      counts_.spans += is_new ? 1 : 0;
      if (!is_new) Forget(place->second);
    }
    waiting_.emplace(Order{step.position, {step.layer, step.first}}, step);
    last_position_ = std::max(last_position_, step.position);
  }
}

void ReplayCursor::Forget(Span& span) {
  if (span.state == State::kThere) --(span.was_local ? counts_.local : counts_.came);
  if (span.state == State::kGivenUp) --counts_.given_up;
  span.state = State::kWaiting;
  span.was_local = false;
  span.failures = 0;
}

void ReplayCursor::Drop(uint32_t layer) {
  std::erase_if(waiting_, [&](const auto& entry) { return entry.second.layer == layer; });
  for (auto& [key, span] : spans_) {
    if (key.first != layer || span.state != State::kAsked) continue;
    span.state = State::kWaiting;
    --asked_;
  }
}

ReplayCursor::Waiting::const_iterator ReplayCursor::FindNext() const {
  const auto next = waiting_.lower_bound(Order{place_, Key{}});
  return next == waiting_.end() ? waiting_.begin() : next;
}

int64_t ReplayCursor::DueOf(const ReplayStep& step) const {
  constexpr auto kPositions = static_cast<int64_t>(kMostRecordExtents);
  const int64_t behind = step.position < place_ ? kPositions : 0;
  return static_cast<int64_t>(step.position) + behind - 2 * kPositions * jumps_;
}

std::optional<int64_t> ReplayCursor::NextDue() const {
  const auto next = FindNext();
  if (next == waiting_.end()) return std::nullopt;
  return DueOf(next->second);
}

std::optional<ReplayCursor::Due> ReplayCursor::Next() {
  const auto next = FindNext();
  if (next == waiting_.end()) return std::nullopt;
  const ReplayStep step = next->second;
  waiting_.erase(next);
  for (uint32_t i = 0; i < step.count; ++i) {
    Span* span = Find(step.layer, SpanId{ToIndex(step.first) + i});
    if (span->state != State::kWaiting) continue;
    span->state = State::kAsked;
    ++asked_;
  }
  return Due{step, DueOf(step)};
}

void ReplayCursor::IsLocal(uint32_t layer, SpanId id) {
  Span* span = Find(layer, id);
  if (span == nullptr || span->state != State::kAsked) return;
  span->state = State::kThere;
  span->was_local = true;
  --asked_;
  ++counts_.local;
}

void ReplayCursor::Came(uint32_t layer, SpanId id) {
  Span* span = Find(layer, id);
  if (span == nullptr || span->state != State::kAsked) return;
  span->state = State::kThere;
  --asked_;
  ++counts_.came;
}

void ReplayCursor::Failed(uint32_t layer, SpanId id) {
  Span* span = Find(layer, id);
  if (span == nullptr || span->state != State::kAsked) return;
  if (++span->failures >= kMostFailures) return GiveUp(layer, id);
  span->state = State::kWaiting;
  --asked_;
  waiting_.emplace(Order{span->position, {layer, id}}, ReplayStep{span->position, layer, id, 1});
}

void ReplayCursor::GiveUp(uint32_t layer, SpanId id) {
  Span* span = Find(layer, id);
  if (span == nullptr || span->state != State::kAsked) return;
  span->state = State::kGivenUp;
  --asked_;
  ++counts_.given_up;
}

void ReplayCursor::Needed(uint32_t layer, SpanId id, bool missed) {
  Span* span = Find(layer, id);
  if (span == nullptr) {
    if (missed && unexpected_.emplace(Key{layer, id}, true).second) ++counts_.unexpected;
    return;
  }
  if (span->needed) return;
  span->needed = true;
  needed_to_ = std::max(needed_to_, span->position);
  if (span->state == State::kThere) {
    counts_.hits += span->was_local ? 0 : 1;
  } else if (span->state == State::kAsked) {
    ++counts_.late;
  } else if (missed) {
    ++counts_.misses;
    if (span->position >= place_) ++jumps_;
    place_ = std::max(place_, span->position + 1);
  }
}

ReplayCursor::Verdict ReplayCursor::Judge() const {
  const uint64_t right = counts_.hits + counts_.late + counts_.misses;
  if (right + counts_.unexpected >= kTrial && right * kLeastRightShare < right + counts_.unexpected) {
    return Verdict::kWrong;
  }
  if (waiting_.empty()) return asked_ == 0 ? Verdict::kDone : Verdict::kGoOn;
  // Only what was passed over is left.
  if (place_ > last_position_ && needed_to_ >= last_position_) return Verdict::kOvertaken;
  return Verdict::kGoOn;
}

}  // namespace soci
