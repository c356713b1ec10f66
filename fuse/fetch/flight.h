// A span on its way from the network to the disk, and everyone who waits for it. Guarded by the scheduler's mutex.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "fuse/fetch/layer_fetcher.h"
#include "fuse/fetch/range_assembler.h"
#include "fuse/fetch/span_buffer.h"
#include "indexer/base/clock.h"
#include "indexer/base/fetch_context.h"
#include "indexer/base/result.h"

namespace soci {

class RangeTransfer;

struct Waiter {
  LayerFetcher::Callback done;
  Clock::TimePoint deadline;
};

// Which of the flights of one class is next: what a replay needs first, then what was asked for first.
struct FlightOrder {
  static constexpr int64_t kNotDue = std::numeric_limits<int64_t>::max();

  int64_t due = kNotDue;  // as LayerFetcher::Replay tells it; the least of all who asked
  uint64_t order = 0;     // of the first who asked

  auto operator<=>(const FlightOrder&) const = default;
};

struct Flight {
  enum class State {
    kQueued,      // wants a transfer
    kBackingOff,  // will want one at retry_at
    kFetching,    // part of a transfer
    kDecoding,    // waits for a decode thread, or is with one
    kInMemory,    // decoded; waits for the disk, or is on its way there
  };

  State state = State::kQueued;
  FetchClass fetch_class = FetchClass::kFill;  // of the most urgent who asked
  FlightOrder order;                           // kept as long as there is the flight
  std::vector<Waiter> waiters;
  // Whose end without this span is its failure. More than one where the first was too slow; none that was merely
  // overtaken: its bytes are taken if they come first all the same.
  std::vector<const RangeTransfer*> carriers;

  int torn = 0;      // times its bytes did not match their digest
  int failures = 0;  // of the network
  Status last_error;
  Clock::TimePoint retry_at;

  CompressedBytes compressed;                // while waiting to be decoded
  std::shared_ptr<const SpanBuffer> buffer;  // in memory

  bool IsCarriedBy(const RangeTransfer& transfer) const {
    return std::find(carriers.begin(), carriers.end(), &transfer) != carriers.end();
  }
  bool IsWantedFromTheNetwork() const {
    return state == State::kQueued || state == State::kBackingOff || state == State::kFetching;
  }
};

}  // namespace soci
