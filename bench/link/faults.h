// What goes wrong with answers that carry blobs, drawn from a seed: none, refused with 503, cut by a reset, held up, or
// with one bit turned over.
//
// Any thread. The same seed gives the same draws in the same order; which request gets which is up to their order.
#pragma once

#include <chrono>
#include <cstdint>
#include <random>

#include "indexer/base/mutex.h"

namespace soci {

// Shares of the requests, together at most 1.
struct FaultOptions {
  double unavailable = 0, reset = 0, stall = 0, flip = 0;
  std::chrono::milliseconds stall_for{10'000};

  bool any() const { return unavailable > 0 || reset > 0 || stall > 0 || flip > 0; }
};

struct Fault {
  enum class Kind { kNone, kUnavailable, kReset, kStall, kFlip };
  Kind kind = Kind::kNone;
  uint64_t at = 0;  // byte of the answer's body; one that is shorter stays whole
  int bit = 0;      // of that byte
};

class FaultDice {
 public:
  FaultDice(const FaultOptions& options, uint64_t seed) : options_(options), random_(seed) {}

  Fault Next() SOCI_EXCLUDES(mutex_);

 private:
  const FaultOptions options_;
  Mutex mutex_;  // a leaf
  std::mt19937_64 random_ SOCI_GUARDED_BY(mutex_);
};

}  // namespace soci
