#include "bench/link/rate_limiter.h"

#include <algorithm>

namespace soci {

RateLimiter::TimePoint RateLimiter::Reserve(uint64_t bytes, TimePoint now) {
  if (bytes_per_second_ == 0) return now;
  const auto time = std::chrono::nanoseconds(
      static_cast<int64_t>(static_cast<double>(bytes) * 1e9 / static_cast<double>(bytes_per_second_)));
  MutexLock lock(mutex_);
  free_from_ = (free_from_ < now - slack_ ? now : free_from_) + time;
  return free_from_;
}

void RateLimiter::Restart(TimePoint now) {
  MutexLock lock(mutex_);
  free_from_ = std::max(free_from_, now);
}

}  // namespace soci
