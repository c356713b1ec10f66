// How long an answer's first byte takes: always the same, or drawn from a log-normal distribution with a given median
// and 99th percentile, as object stores show.
//
// Any thread. The same seed gives the same draws in the same order; which request gets which is up to their order.
#pragma once

#include <chrono>
#include <cstdint>
#include <random>

#include "indexer/base/mutex.h"

namespace soci {

class FirstByteDelay {
 public:
  // A `p99` that is not above the median means no spread.
  FirstByteDelay(std::chrono::milliseconds median, std::chrono::milliseconds p99, uint64_t seed);

  std::chrono::microseconds Next() SOCI_EXCLUDES(mutex_);

 private:
  const double median_us_;
  const double sigma_;  // of the logarithm; 0 without spread
  Mutex mutex_;         // a leaf
  std::mt19937_64 random_ SOCI_GUARDED_BY(mutex_);
};

}  // namespace soci
