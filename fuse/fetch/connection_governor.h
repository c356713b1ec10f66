// How many connections one host's lower classes use: as many as bring more, no more. Each connection that does not
// bring more delays whoever waits, by what is under way on it when it is told to stand still; of a replay, what is due
// next, by what is due later.
//
// Starts small and goes up while the rate of all grows, then down while it does not fall; a step that is taken back is
// tried again much later. In a hurry it first doubles while that brings much more: a replay is judged before its
// program begins, as long as nobody waits, or never. Judged over stretches in which the limit was what held transfers
// back. Guarded by the scheduler's mutex. Pure.
#pragma once

#include <cstdint>

#include "indexer/base/clock.h"

namespace soci {

class ConnectionGovernor {
 public:
  enum class Start { kInSteps, kInAHurry };

  explicit ConnectionGovernor(uint32_t most = 32, Start start = Start::kInSteps);

  uint32_t limit() const { return limit_; }

  // All that came from the host in a stretch of time in which as many transfers ran as the limit allows.
  void Note(uint64_t bytes, Clock::TimePoint::duration time);
  // Something else held transfers back: the stretch is not over, it is void.
  void Interrupt();

 private:
  void Judge(double rate);
  void Probe();
  void EndHurry();

  const uint32_t most_;
  uint32_t limit_;
  uint32_t best_limit_;
  double best_rate_ = 0;  // bytes per second, at best_limit_; 0: not known
  int rest_ = 0;          // stretches until the next try
  bool hurries_;
  bool downwards_ = false;
  uint64_t bytes_ = 0;                 // of the present stretch
  Clock::TimePoint::duration time_{};  // negative: warming up
};

}  // namespace soci
