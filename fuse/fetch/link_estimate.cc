#include "fuse/fetch/link_estimate.h"

#include <algorithm>

namespace soci {
namespace {

constexpr size_t kKept = 100;
constexpr size_t kEnoughForMedian = 4;
constexpr size_t kEnoughForSlow = 20;  // one of them is the slowest twentieth
constexpr double kSlow = 0.95;
// Seconds. Over a shorter way what is slow is this machine, and asking again only brings the bytes twice: on loopback
// the one request in twenty that may be made again always was.
constexpr double kLeastPatience = 0.02;

double Seconds(Clock::TimePoint::duration time) { return std::chrono::duration<double>(time).count(); }

Clock::TimePoint::duration ToDuration(double seconds) {
  return std::chrono::duration_cast<Clock::TimePoint::duration>(std::chrono::duration<double>(seconds));
}

double Quantile(std::vector<double> values, double share) {
  const size_t rank = std::min(values.size() - 1, static_cast<size_t>(share * static_cast<double>(values.size())));
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(rank), values.end());
  return values[rank];
}

}  // namespace

void LinkEstimate::Note(const TransferTimes& times) {
  const double bytes = static_cast<double>(std::max<uint64_t>(times.bytes, 1));
  const Sample sample{Seconds(times.first_byte), Seconds(times.body) / bytes};
  if (samples_.size() < kKept) {
    samples_.push_back(sample);
  } else {
    samples_[next_] = sample;
    next_ = (next_ + 1) % kKept;
  }
  std::vector<double> first_bytes, rates;
  for (const Sample& kept : samples_) {
    first_bytes.push_back(kept.first_byte);
    rates.push_back(kept.seconds_per_byte);
  }
  median_ = {Quantile(first_bytes, 0.5), Quantile(rates, 0.5)};
  fast_seconds_per_byte_ = *std::min_element(rates.begin(), rates.end());
  slow_ = {Quantile(first_bytes, kSlow), Quantile(rates, kSlow)};
}

uint64_t LinkEstimate::RoundTripBytes() const {
  if (samples_.size() < kEnoughForMedian || median_.seconds_per_byte <= 0) return unknown_round_trip_bytes_;
  const double bytes = median_.first_byte / median_.seconds_per_byte;
  return bytes > 1e12 ? uint64_t{1'000'000'000'000} : static_cast<uint64_t>(bytes);
}

double LinkEstimate::ConnectionRate() const {
  if (samples_.size() < kEnoughForMedian || fast_seconds_per_byte_ <= 0) return 0;
  return 1 / fast_seconds_per_byte_;
}

std::optional<Clock::TimePoint::duration> LinkEstimate::SlowFirstByte() const {
  if (samples_.size() < kEnoughForSlow) return std::nullopt;
  return ToDuration(std::max({slow_.first_byte, kMuchSlower * median_.first_byte, kLeastPatience}));
}

std::optional<Clock::TimePoint::duration> LinkEstimate::SlowTransfer(uint64_t bytes) const {
  if (samples_.size() < kEnoughForSlow) return std::nullopt;
  const auto of = [bytes](const Sample& sample) {
    return sample.first_byte + sample.seconds_per_byte * static_cast<double>(bytes);
  };
  return ToDuration(std::max({of(slow_), kMuchSlower * of(median_), kLeastPatience}));
}

}  // namespace soci
