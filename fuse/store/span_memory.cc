#include "fuse/store/span_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <new>

#include "indexer/base/mutex.h"

namespace soci {
namespace {

constexpr size_t kSmall = 256 << 10;  // malloc does these well
constexpr size_t kStep = 512 << 10;   // blocks have multiples of it
constexpr size_t kMostIdle = 16 << 20;

class Blocks {
 public:
  // Lives for ever: spans may be freed by whatever is destroyed last.
  static Blocks& Instance() {
    static auto* blocks = new Blocks;
    return *blocks;
  }

  // Makes `block` the size of what it gives: an idle one may be somewhat larger than asked for.
  std::byte* Take(size_t& block) {
    {
      MutexLock lock(mutex_);
      ++taken_;
      auto found = idle_.lower_bound(block);
      if (found != idle_.end() && found->first <= block + std::max(block / 4, kStep)) {
        std::byte* bytes = found->second;
        block = found->first;
        idle_bytes_ -= block;
        idle_.erase(found);
        return bytes;
      }
    }
    void* mapped = ::mmap(nullptr, block, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped != MAP_FAILED) return static_cast<std::byte*>(mapped);
    MutexLock lock(mutex_);
    --taken_;
    return nullptr;
  }

  void Return(std::byte* bytes, size_t block) {
    std::multimap<size_t, std::byte*> gone;
    {
      MutexLock lock(mutex_);
      --taken_;
      idle_.emplace(block, bytes);
      idle_bytes_ += block;
      if (taken_ == 0) {
        gone.swap(idle_);
        idle_bytes_ = 0;
      }
      while (idle_bytes_ > kMostIdle) {
        auto longest = std::prev(idle_.end());
        idle_bytes_ -= longest->first;
        gone.insert(idle_.extract(longest));
      }
    }
    for (const auto& [size, mapped] : gone) ::munmap(mapped, size);
  }

  size_t idle_bytes() {
    MutexLock lock(mutex_);
    return idle_bytes_;
  }

 private:
  Mutex mutex_;  // a leaf
  std::multimap<size_t, std::byte*> idle_ SOCI_GUARDED_BY(mutex_);
  size_t idle_bytes_ SOCI_GUARDED_BY(mutex_) = 0;
  size_t taken_ SOCI_GUARDED_BY(mutex_) = 0;
};

}  // namespace

void SpanMemoryDeleter::operator()(std::byte* bytes) const {
  if (block_size == 0) {
    delete[] bytes;
  } else {
    Blocks::Instance().Return(bytes, block_size);
  }
}

SpanMemory TakeSpanMemory(size_t size) {
  if (size < kSmall) {
    return SpanMemory(new (std::nothrow) std::byte[size > 0 ? size : 1], SpanMemoryDeleter(0));
  }
  size_t block = (size + kStep - 1) / kStep * kStep;
  std::byte* bytes = Blocks::Instance().Take(block);
  return SpanMemory(bytes, SpanMemoryDeleter(block));
}

size_t IdleSpanMemory() { return Blocks::Instance().idle_bytes(); }

}  // namespace soci
