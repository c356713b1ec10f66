#include "fuse/store/fd_cache.h"

#include <vector>

namespace soci {

uint64_t FdCache::NewOwner() {
  MutexLock lock(mutex_);
  return next_owner_++;
}

std::shared_ptr<const UniqueFd> FdCache::Find(uint64_t owner, uint64_t key) {
  MutexLock lock(mutex_);
  const auto found = entries_.find({owner, key});
  if (found == entries_.end()) return nullptr;
  recent_.splice(recent_.begin(), recent_, found->second);
  return found->second->file;
}

std::shared_ptr<const UniqueFd> FdCache::Insert(uint64_t owner, uint64_t key, UniqueFd file) {
  auto inserted = std::make_shared<const UniqueFd>(std::move(file));
  std::vector<std::shared_ptr<const UniqueFd>> closed;  // after the lock
  MutexLock lock(mutex_);
  if (const auto found = entries_.find({owner, key}); found != entries_.end()) {
    closed.push_back(std::move(inserted));
    return found->second->file;
  }
  recent_.push_front({{owner, key}, inserted});
  entries_[{owner, key}] = recent_.begin();
  while (recent_.size() > capacity_) {
    closed.push_back(std::move(recent_.back().file));
    entries_.erase(recent_.back().key);
    recent_.pop_back();
  }
  return inserted;
}

void FdCache::Forget(uint64_t owner) {
  std::vector<std::shared_ptr<const UniqueFd>> closed;
  MutexLock lock(mutex_);
  for (auto entry = recent_.begin(); entry != recent_.end();) {
    if (entry->key.owner != owner) {
      ++entry;
      continue;
    }
    closed.push_back(std::move(entry->file));
    entries_.erase(entry->key);
    entry = recent_.erase(entry);
  }
}

}  // namespace soci
