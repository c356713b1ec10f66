// Which spans fill takes next: those that are missing and not on their way already. So many bytes from the last place
// where a program missed something, while it goes on missing things; else in order from the layer's beginning, which is
// where the DiffID is hashed: little has to be read back from the disk then, and little is left to be hashed when the
// last byte is here.
//
// Guarded by the scheduler's mutex.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "fuse/fetch/flight_table.h"
#include "fuse/store/backing_store.h"
#include "indexer/base/clock.h"

namespace soci {

class FillCursor {
 public:
  // `near`: compressed bytes that are taken near a miss.
  FillCursor(const LayerTable& table, const BackingStore& store, FlightTable& flights, uint64_t near)
      : table_(table), store_(store), flights_(flights), near_(near) {}

  // The next span to take, if there is any now.
  std::optional<SpanId> Next(Clock::TimePoint now);
  // That span and its neighbours, at most `limit` compressed bytes. Whoever takes them makes them flights.
  std::vector<SpanId> NextRange(Clock::TimePoint now, uint64_t limit);

  // A program missed this: what it reads is near what it has read.
  void MoveTo(SpanId span, Clock::TimePoint now);
  // A span is missing again that was on its way.
  void Reconsider() { exhausted_ = false; }
  // Leaves a span alone for a while.
  void Delay(SpanId span, Clock::TimePoint until);
  // When the first of those is due.
  std::optional<Clock::TimePoint> NextDue() const;

 private:
  bool IsFree(SpanId span, Clock::TimePoint now) const;
  std::optional<SpanId> FindFrom(SpanId from, Clock::TimePoint now) const;

  const LayerTable& table_;
  const BackingStore& store_;
  FlightTable& flights_;
  const uint64_t near_;
  SpanId position_{0};
  std::optional<Clock::TimePoint> home_at_;  // when it goes back to the beginning
  uint64_t near_left_ = 0;                   // until then
  bool exhausted_ = false;                   // nothing was free at the last look
  std::map<SpanId, Clock::TimePoint> delayed_;
};

}  // namespace soci
