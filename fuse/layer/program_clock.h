// The time of programs that read from layers: it stands still while a read waits for the network. What a program does
// between two reads is measured by it, and does not depend on the link it was measured over.
//
// One for all layers; exact for one program at a time, near enough for several. Any thread.
#pragma once

#include <chrono>
#include <cstdint>

#include "indexer/base/clock.h"
#include "indexer/base/mutex.h"

namespace soci {

class ProgramClock {
 public:
  using Duration = std::chrono::nanoseconds;

  explicit ProgramClock(const Clock& clock) : clock_(clock), origin_(clock.Now()) {}

  // Since some moment.
  Duration Now() const;

  // A read waits for the network as long as this lives.
  class Wait {
   public:
    explicit Wait(ProgramClock& clock) : clock_(clock), since_(clock.Begin()) {}
    ~Wait() { clock_.End(since_); }
    Wait(const Wait&) = delete;
    Wait& operator=(const Wait&) = delete;

   private:
    ProgramClock& clock_;
    const Clock::TimePoint since_;
  };

  // How often and how long reads waited, each for itself.
  struct Waits {
    uint64_t count = 0;
    Duration time{0};
  };
  Waits waits() const;

 private:
  Clock::TimePoint Begin();
  void End(Clock::TimePoint since);

  const Clock& clock_;
  const Clock::TimePoint origin_;
  mutable Mutex mutex_;  // a leaf; taken for reads that wait for the network anyway
  uint32_t waiting_ SOCI_GUARDED_BY(mutex_) = 0;
  Clock::TimePoint standing_since_ SOCI_GUARDED_BY(mutex_);  // while somebody waits
  Duration stood_ SOCI_GUARDED_BY(mutex_){0};
  Waits waits_ SOCI_GUARDED_BY(mutex_);
};

}  // namespace soci
