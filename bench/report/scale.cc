#include "bench/report/scale.h"

#include <algorithm>
#include <cmath>

namespace soci::bench {
namespace {

constexpr double kLeastLog = 1e-6;

std::vector<double> LogTicks(double low, double high, const std::vector<double>& steps) {
  std::vector<double> ticks;
  for (double power = std::pow(10, std::floor(std::log10(low))); power <= high * 1.0001; power *= 10) {
    for (const double step : steps) {
      if (power * step >= low * 0.9999 && power * step <= high * 1.0001) ticks.push_back(power * step);
    }
  }
  return ticks;
}

}  // namespace

Scale::Scale(Kind kind, double low, double high, double from, double to)
    : kind_(kind), low_(low), high_(high), from_(from), to_(to) {
  if (!std::isfinite(low_) || std::abs(low_) > 1e18) low_ = 0;
  if (!std::isfinite(high_) || std::abs(high_) > 1e18) high_ = low_ + 1;
  if (kind_ == Kind::kLogarithmic) {
    low_ = std::max(low_, kLeastLog);
    if (high_ < low_ * 1.5) high_ = low_ * 1.5;
  } else if (high_ - low_ < 1e-9 * std::max(1.0, std::abs(low_))) {
    high_ = low_ + std::max(1.0, std::abs(low_));
  }
}

double Scale::operator()(double figure) const {
  if (!std::isfinite(figure)) figure = low_;
  figure = std::clamp(figure, low_, high_);
  const double share =
      kind_ == Kind::kLinear ? (figure - low_) / (high_ - low_) : std::log(figure / low_) / std::log(high_ / low_);
  return from_ + share * (to_ - from_);
}

std::vector<double> Scale::Ticks(int count) const {
  if (kind_ == Kind::kLogarithmic) {
    std::vector<double> ticks;
    for (const auto& steps : {std::vector<double>{1, 2, 5}, {1, 3}, {1}}) {
      ticks = LogTicks(low_, high_, steps);
      if (static_cast<int>(ticks.size()) <= count + 1) break;
    }
    return ticks;
  }
  const double rough = (high_ - low_) / count;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough) {
      step = factor * power;
      break;
    }
  }
  std::vector<double> ticks;
  for (double number = std::ceil(low_ / step - 1e-9); number * step <= high_ * (1 + 1e-9); ++number) {
    ticks.push_back(number * step);
  }
  return ticks;
}

}  // namespace soci::bench
