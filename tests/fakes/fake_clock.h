// A clock that stands still until a test moves it. Any thread.
#pragma once

#include <mutex>

#include "indexer/base/clock.h"

namespace soci {

class FakeClock : public Clock {
 public:
  TimePoint Now() const override {
    std::lock_guard lock(mutex_);
    return now_;
  }
  std::chrono::system_clock::time_point WallNow() const override {
    std::lock_guard lock(mutex_);
    return std::chrono::system_clock::time_point(std::chrono::hours(24 * 365 * 50)) + (now_ - TimePoint());
  }
  void Advance(std::chrono::nanoseconds time) {
    std::lock_guard lock(mutex_);
    now_ += std::chrono::duration_cast<TimePoint::duration>(time);
  }

 private:
  mutable std::mutex mutex_;
  TimePoint now_{};
};

}  // namespace soci
