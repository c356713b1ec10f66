#include "fuse/store/cache_limit.h"

#include <algorithm>
#include <utility>

namespace soci {
namespace {

constexpr int kMostStuck = 16;  // spans that could not go before the search is given up

}  // namespace

CacheLimit::Account::Account(CacheLimit& limit, SpanShelf& shelf, Evictor& evictor)
    : limit_(limit), shelf_(shelf), evictor_(evictor) {
  MutexLock lock(limit_.mutex_);
  limit_.candidates_.push_back(this);
  limit_.shelves_.push_back(&shelf_);
}

CacheLimit::Account::~Account() {
  MutexLock lock(limit_.mutex_);
  limit_.Withdraw(*this);
  limit_.held_ -= held_;
  limit_.whole_ -= whole_;
}

bool CacheLimit::Account::Take(uint64_t bytes) {
  MutexLock lock(limit_.mutex_);
  // What may have become whole while room was made for it has its room.
  while (!kept_whole_ && limit_.held_ + bytes > limit_.limit_) {
    if (bytes > limit_.limit_ || !limit_.EvictOne()) {
      ++limit_.refusals_;
      return false;
    }
  }
  if (kept_whole_) return true;
  held_ += bytes;
  limit_.held_ += bytes;
  return true;
}

void CacheLimit::Account::Give(uint64_t bytes) {
  MutexLock lock(limit_.mutex_);
  if (kept_whole_) return;
  held_ -= bytes;
  limit_.held_ -= bytes;
}

void CacheLimit::Account::Adopt(uint64_t bytes) {
  MutexLock lock(limit_.mutex_);
  held_ += bytes;
  limit_.held_ += bytes;
}

void CacheLimit::Account::Trim() {
  MutexLock lock(limit_.mutex_);
  limit_.Trim();
}

bool CacheLimit::Account::KeepWhole(uint64_t total) {
  MutexLock lock(limit_.mutex_);
  if (kept_whole_) return true;
  if (limit_.whole_ + total > limit_.limit_ - limit_.limit_ / 4) return false;
  whole_ = total;
  limit_.whole_ += total;
  limit_.Withdraw(*this);  // from now on nothing of it goes
  const auto missing = [&] { return total - std::min(total, held_); };
  while (limit_.held_ + missing() > limit_.limit_) {
    if (limit_.EvictOne()) continue;
    limit_.whole_ -= std::exchange(whole_, 0);
    limit_.candidates_.push_back(this);
    limit_.shelves_.push_back(&shelf_);
    return false;
  }
  limit_.held_ += missing();
  held_ += missing();
  kept_whole_ = true;
  return true;
}

void CacheLimit::Account::AdoptWhole(uint64_t total) {
  MutexLock lock(limit_.mutex_);
  limit_.Withdraw(*this);
  held_ = whole_ = total;
  limit_.held_ += total;
  limit_.whole_ += total;
  kept_whole_ = true;
  limit_.Trim();
}

// Half of the limit for what nobody has read so far: what is fetched next must not push out what is needed first.
uint64_t CacheLimit::Account::RoomAhead() const {
  if (kept_whole()) return ~uint64_t{0};
  MutexLock lock(limit_.mutex_);
  const uint64_t room = (limit_.limit_ - std::min(limit_.limit_, limit_.whole_)) / 2;
  uint64_t unread = 0;
  for (const SpanShelf* shelf : limit_.shelves_) unread += shelf->unread_bytes();
  return room - std::min(room, unread);
}

CacheLimit::Figures CacheLimit::figures() const {
  MutexLock lock(mutex_);
  return {limit_, held_, evictions_, refusals_};
}

void CacheLimit::Withdraw(Account& account) {
  const auto found = std::find(candidates_.begin(), candidates_.end(), &account);
  if (found != candidates_.end()) {
    shelves_.erase(shelves_.begin() + (found - candidates_.begin()));
    candidates_.erase(found);
  }
  while (account.evicting_ > 0) evicted_.Wait(mutex_);
}

void CacheLimit::Trim() {
  while (held_ > limit_ && EvictOne()) {
  }
}

// The mutex is let go while the span goes.
bool CacheLimit::EvictOne() {
  for (int stuck = 0; stuck < kMostStuck; ++stuck) {
    const auto victim = clock_.Next(shelves_);
    if (!victim) return false;
    Account& account = *candidates_[victim->shelf];
    const uint64_t bytes = account.shelf_.Charge(victim->span);
    ++account.evicting_;
    mutex_.unlock();
    const bool gone = account.evictor_.Evict(victim->span);
    mutex_.lock();
    if (gone) {
      account.held_ -= bytes;
      held_ -= bytes;
      ++evictions_;
    }
    if (--account.evicting_ == 0) evicted_.NotifyAll();
    if (gone) return true;
  }
  return false;
}

}  // namespace soci
