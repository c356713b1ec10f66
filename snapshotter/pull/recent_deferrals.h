// The last layers that were left to containerd, and why: the answer to "why is it not lazy?".
//
// Bounded, newest last; a layer that is deferred again for the same reason is counted, not listed twice. Any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <string>
#include <vector>

#include "indexer/base/clock.h"
#include "indexer/base/mutex.h"

namespace soci {

struct Deferral {
  std::string image;  // as the label says; empty if there was none
  std::string layer;
  std::string reason;
  uint64_t times = 1;
  std::chrono::system_clock::time_point last;
};

class RecentDeferrals {
 public:
  explicit RecentDeferrals(const Clock& clock, size_t limit = 256) : clock_(clock), limit_(limit) {}

  void Add(std::string image, std::string layer, std::string reason);
  std::vector<Deferral> List() const;

 private:
  const Clock& clock_;
  const size_t limit_;
  mutable Mutex mutex_;  // a leaf
  std::deque<Deferral> deferrals_ SOCI_GUARDED_BY(mutex_);
};

}  // namespace soci
