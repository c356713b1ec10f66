#include "fuse/layer/program_clock.h"

namespace soci {

ProgramClock::Duration ProgramClock::Now() const {
  MutexLock lock(mutex_);
  const Clock::TimePoint now = waiting_ > 0 ? standing_since_ : clock_.Now();
  return now - origin_ - stood_;
}

Clock::TimePoint ProgramClock::Begin() {
  MutexLock lock(mutex_);
  const Clock::TimePoint now = clock_.Now();
  if (waiting_++ == 0) standing_since_ = now;
  return now;
}

void ProgramClock::End(Clock::TimePoint since) {
  MutexLock lock(mutex_);
  const Clock::TimePoint now = clock_.Now();
  ++waits_.count;
  waits_.time += now - since;
  if (--waiting_ == 0) stood_ += now - standing_since_;
}

ProgramClock::Waits ProgramClock::waits() const {
  MutexLock lock(mutex_);
  return waits_;
}

}  // namespace soci
