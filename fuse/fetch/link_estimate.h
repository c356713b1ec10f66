// What finished transfers have shown of the way to one host: how long its first byte takes, and what one connection
// brings. Kept as the last few samples, so that it follows a link that changes. Guarded by the scheduler's mutex.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "indexer/base/clock.h"

namespace soci {

// Of a transfer that was demanded and never stood still.
struct TransferTimes {
  Clock::TimePoint::duration first_byte{};  // from its start
  Clock::TimePoint::duration body{};        // from there to its end
  uint64_t bytes = 0;                       // after those that came first
};

class LinkEstimate {
 public:
  static constexpr double kMuchSlower = 2.5;

  // `round_trip_bytes`: the answer as long as nothing is known.
  explicit LinkEstimate(uint64_t round_trip_bytes = 2 << 20) : unknown_round_trip_bytes_(round_trip_bytes) {}

  void Note(const TransferTimes& times);

  // What one connection brings in the time that a first byte takes, by the median.
  uint64_t RoundTripBytes() const;

  // What a connection brings by itself, by the one that was least disturbed; 0: not known. Bytes per second.
  double ConnectionRate() const;

  // The times that 95 of 100 requests stay under, but no less than kMuchSlower times the median: where all take about
  // as long there is nothing to win, and not less than some milliseconds. None before there are enough samples.
  std::optional<Clock::TimePoint::duration> SlowFirstByte() const;
  std::optional<Clock::TimePoint::duration> SlowTransfer(uint64_t bytes) const;

 private:
  struct Sample {
    double first_byte = 0;  // seconds
    double seconds_per_byte = 0;
  };

  const uint64_t unknown_round_trip_bytes_;
  std::vector<Sample> samples_;  // a ring
  size_t next_ = 0;
  Sample median_;
  Sample slow_;
  double fast_seconds_per_byte_ = 0;
};

}  // namespace soci
