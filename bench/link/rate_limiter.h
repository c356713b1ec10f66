// Spreads bytes over time so that no more than a given rate passes. Pure arithmetic over time points: it never sleeps.
//
// Any thread. A rate of 0 means no limit. Bytes that pass together queue behind each other, so several connections that
// share one limiter get what is left in the order in which they ask.
#pragma once

#include <chrono>
#include <cstdint>

#include "indexer/base/mutex.h"

namespace soci {

class RateLimiter {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  // A caller who wakes up to `slack` late may make up for it; without, each late wake-up slows the line for good (on a
  // busy machine by a fifth to a half). A line that was idle for longer owes nothing.
  explicit RateLimiter(uint64_t bytes_per_second, std::chrono::milliseconds slack = std::chrono::milliseconds(0))
      : bytes_per_second_(bytes_per_second), slack_(slack) {}

  // Takes the next free stretch of the line for `bytes`; they have passed at the time returned.
  TimePoint Reserve(uint64_t bytes, TimePoint now) SOCI_EXCLUDES(mutex_);

  // What follows is not late: the line was idle until now.
  void Restart(TimePoint now) SOCI_EXCLUDES(mutex_);

 private:
  const uint64_t bytes_per_second_;
  const std::chrono::milliseconds slack_;
  Mutex mutex_;  // a leaf
  TimePoint free_from_ SOCI_GUARDED_BY(mutex_){};
};

}  // namespace soci
