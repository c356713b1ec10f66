// Time as a seam, so that tests need no sleep. Any thread.
#pragma once

#include <chrono>

namespace soci {

class Clock {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  virtual ~Clock() = default;
  virtual TimePoint Now() const = 0;
  // Wall clock, for records only.
  virtual std::chrono::system_clock::time_point WallNow() const = 0;
};

// The machine's own clock.
Clock& SystemClock();

}  // namespace soci
