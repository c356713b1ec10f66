#include "indexer/registry/negative_answers.h"

namespace soci {

void NegativeAnswers::Remember(const std::string& question) {
  MutexLock lock(mutex_);
  Clock::TimePoint now = clock_.Now();
  std::erase_if(until_, [now](const auto& entry) { return entry.second <= now; });
  until_[question] = now + keep_;
}

bool NegativeAnswers::Knows(const std::string& question) {
  MutexLock lock(mutex_);
  auto found = until_.find(question);
  return found != until_.end() && clock_.Now() < found->second;
}

void NegativeAnswers::Forget(std::string_view prefix) {
  MutexLock lock(mutex_);
  auto first = until_.lower_bound(prefix);
  while (first != until_.end() && first->first.starts_with(prefix)) first = until_.erase(first);
}

}  // namespace soci
