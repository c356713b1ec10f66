#include "indexer/registry/redirect_memory.h"

#include <utility>

namespace soci {
namespace {

// As long as negative answers are remembered.
constexpr std::chrono::seconds kMissingFor{60};

}  // namespace

const RedirectTarget* RedirectMemory::Find() {
  if (target_ && renew_at_ && clock_.Now() >= *renew_at_) target_.reset();
  return target_ ? &*target_ : nullptr;
}

bool RedirectMemory::StartAsking(std::function<void()> wake) {
  if (direct_) return true;
  if (!asking_) return asking_ = true;
  waiting_.push_back(std::move(wake));
  return false;
}

void RedirectMemory::Learn(RedirectTarget target, std::optional<std::chrono::seconds> lifetime) {
  target_ = std::move(target);
  direct_ = false;
  renew_at_.reset();
  // A fifth of the life stays unused: a read that starts now has to get through.
  if (lifetime) renew_at_ = clock_.Now() + std::chrono::duration_cast<std::chrono::milliseconds>(*lifetime) * 4 / 5;
  Wake();
}

void RedirectMemory::LearnDirect() {
  direct_ = true;
  Wake();
}

void RedirectMemory::GiveUpAsking() { Wake(); }

void RedirectMemory::Forget(const Url& url) {
  if (target_ && target_->url.ToString() == url.ToString()) target_.reset();
}

void RedirectMemory::NoteMissingAt(const std::string& base) { missing_until_[base] = clock_.Now() + kMissingFor; }

bool RedirectMemory::IsMissingAt(const std::string& base) const {
  auto found = missing_until_.find(base);
  return found != missing_until_.end() && clock_.Now() < found->second;
}

void RedirectMemory::Wake() {
  asking_ = false;
  for (auto& wake : std::exchange(waiting_, {})) wake();
}

}  // namespace soci
