// What a registry was found not to have, remembered for a while so that it is not asked again and again. Any thread.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "indexer/base/clock.h"
#include "indexer/base/mutex.h"

namespace soci {

class NegativeAnswers {
 public:
  NegativeAnswers(const Clock& clock, std::chrono::milliseconds keep) : clock_(clock), keep_(keep) {}

  void Remember(const std::string& question);
  bool Knows(const std::string& question);
  // Something was pushed: all questions that start like this are open again.
  void Forget(std::string_view prefix);

 private:
  const Clock& clock_;
  const std::chrono::milliseconds keep_;
  Mutex mutex_;  // a leaf
  std::map<std::string, Clock::TimePoint, std::less<>> until_ SOCI_GUARDED_BY(mutex_);
};

}  // namespace soci
