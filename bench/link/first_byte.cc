#include "bench/link/first_byte.h"

#include <cmath>

namespace soci {
namespace {

constexpr double kStandardNormalP99 = 2.3263478740408408;

}  // namespace

FirstByteDelay::FirstByteDelay(std::chrono::milliseconds median, std::chrono::milliseconds p99, uint64_t seed)
    : median_us_(static_cast<double>(std::chrono::microseconds(median).count())),
      sigma_(median.count() > 0 && p99 > median
                 ? std::log(static_cast<double>(p99.count()) / static_cast<double>(median.count())) / kStandardNormalP99
                 : 0),
      random_(seed) {}

std::chrono::microseconds FirstByteDelay::Next() {
  if (sigma_ == 0) return std::chrono::microseconds(static_cast<int64_t>(median_us_));
  MutexLock lock(mutex_);
  std::lognormal_distribution<double> spread(std::log(median_us_), sigma_);
  return std::chrono::microseconds(static_cast<int64_t>(spread(random_)));
}

}  // namespace soci
