#include "fuse/fetch/connection_governor.h"

#include <algorithm>

namespace soci {
namespace {

constexpr uint32_t kFirst = 4;
constexpr auto kStretch = std::chrono::milliseconds(500);
constexpr auto kHurriedStretch = std::chrono::milliseconds(200);
// What stood in buffers comes at once when transfers go on.
constexpr auto kWarmUp = std::chrono::milliseconds(200);
constexpr double kWorthMore = 1.04;   // what a half more connections must bring
constexpr double kWorthLess = 0.985;  // what a third less may cost
constexpr double kWorthDouble = 1.3;  // what twice as many must bring in a hurry
constexpr int kRest = 20;             // stretches

}  // namespace

ConnectionGovernor::ConnectionGovernor(uint32_t most, Start start)
    : most_(std::max(most, 1u)),
      limit_(std::min(kFirst, most_)),
      best_limit_(limit_),
      hurries_(start == Start::kInAHurry),
      time_(-kWarmUp) {}

void ConnectionGovernor::Note(uint64_t bytes, Clock::TimePoint::duration time) {
  if (time_.count() >= 0) bytes_ += bytes;
  time_ += time;
  if (time_ < (hurries_ ? kHurriedStretch : kStretch)) return;
  const double rate = static_cast<double>(bytes_) / std::chrono::duration<double>(time_).count();
  bytes_ = 0;
  time_ = {};
  Judge(rate);
}

void ConnectionGovernor::Interrupt() {
  bytes_ = 0;
  time_ = -kWarmUp;
}

void ConnectionGovernor::Judge(double rate) {
  if (limit_ == best_limit_) {
    best_rate_ = best_rate_ == 0 ? rate : (best_rate_ + rate) / 2;
    if (hurries_ || rest_-- <= 0) Probe();
    return;
  }
  const bool up = limit_ > best_limit_;
  if (hurries_ && rate <= best_rate_ * kWorthDouble) return EndHurry();
  if (rate > best_rate_ * (up ? kWorthMore : kWorthLess)) {
    best_limit_ = limit_;
    best_rate_ = rate;
    downwards_ = !up;
    return Probe();
  }
  limit_ = best_limit_;
  if (!up) rest_ = kRest;
  downwards_ = up;
}

// Twice as many was too much; half as many more is not known to be.
void ConnectionGovernor::EndHurry() {
  hurries_ = false;
  limit_ = best_limit_ = std::min(most_, best_limit_ + best_limit_ / 2);
  best_rate_ = 0;
  rest_ = kRest;
}

void ConnectionGovernor::Probe() {
  if (hurries_) limit_ = std::min(most_, best_limit_ * 2);
  if (limit_ != best_limit_) return;
  hurries_ = false;
  limit_ = downwards_ ? best_limit_ - best_limit_ / 3 : std::min(most_, best_limit_ + std::max(best_limit_ / 2, 1u));
  if (limit_ == best_limit_) {
    rest_ = kRest;
    downwards_ = !downwards_;
  }
}

}  // namespace soci
