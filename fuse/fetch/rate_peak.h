// The most that one host brought over a quarter of a second, forgotten slowly. Guarded by the scheduler's mutex. Pure.
#pragma once

#include <algorithm>
#include <cstdint>

#include "indexer/base/clock.h"

namespace soci {

class RatePeak {
 public:
  // What came in a stretch of time; stretches follow each other.
  void Note(uint64_t bytes, Clock::TimePoint::duration time) {
    bytes_ += bytes;
    time_ += time;
    if (time_ < std::chrono::milliseconds(250)) return;
    const double rate = static_cast<double>(bytes_) / std::chrono::duration<double>(time_).count();
    peak_ = std::max(rate, peak_ * 0.999);
    bytes_ = 0;
    time_ = {};
  }

  double bytes_per_second() const { return peak_; }

 private:
  uint64_t bytes_ = 0;
  Clock::TimePoint::duration time_{};
  double peak_ = 0;
};

}  // namespace soci
