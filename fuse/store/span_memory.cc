#include "fuse/store/span_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <new>
#include <vector>

#include "indexer/base/mutex.h"

namespace soci {
namespace {

constexpr size_t kSmall = 256 << 10;  // malloc does these well
constexpr size_t kStep = 512 << 10;   // blocks have multiples of it
// As much may lie idle at any time; and, while many spans are in memory, as much as keeps both together at kKept.
constexpr size_t kMostIdle = 16 << 20;
constexpr size_t kKept = 64 << 20;

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
      auto found = idle_.lower_bound(block);
      if (found != idle_.end() && found->first <= block + std::max(block / 4, kStep)) {
        std::byte* bytes = found->second.bytes;
        block = found->first;
        taken_bytes_ += block;
        idle_bytes_ -= block;
        idle_.erase(found);
        return bytes;
      }
      taken_bytes_ += block;
    }
    void* mapped = ::mmap(nullptr, block, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped != MAP_FAILED) return static_cast<std::byte*>(mapped);
    MutexLock lock(mutex_);
    taken_bytes_ -= block;
    return nullptr;
  }

  void Return(std::byte* bytes, size_t block) {
    std::vector<Idle> gone;
    {
      MutexLock lock(mutex_);
      taken_bytes_ -= block;
      idle_.emplace(block, Idle{bytes, block, ++returns_});
      idle_bytes_ += block;
      const size_t most = taken_bytes_ == 0 ? 0 : std::max(kMostIdle, kKept - std::min(kKept, taken_bytes_));
      while (idle_bytes_ > most) gone.push_back(TakeOldest());
    }
    for (const Idle& each : gone) ::munmap(each.bytes, each.size);
  }

  size_t idle_bytes() {
    MutexLock lock(mutex_);
    return idle_bytes_;
  }

 private:
  struct Idle {
    std::byte* bytes;
    size_t size;
    uint64_t returned;  // the how manyth
  };

  // Sizes that are asked for come back soon, so what has waited longest is of a size that is not.
  Idle TakeOldest() SOCI_REQUIRES(mutex_) {
    const auto oldest = std::min_element(
        idle_.begin(), idle_.end(), [](const auto& a, const auto& b) { return a.second.returned < b.second.returned; });
    const Idle taken = oldest->second;
    idle_bytes_ -= taken.size;
    idle_.erase(oldest);
    return taken;
  }

  Mutex mutex_;  // a leaf
  std::multimap<size_t, Idle> idle_ SOCI_GUARDED_BY(mutex_);
  size_t idle_bytes_ SOCI_GUARDED_BY(mutex_) = 0;
  size_t taken_bytes_ SOCI_GUARDED_BY(mutex_) = 0;
  uint64_t returns_ SOCI_GUARDED_BY(mutex_) = 0;
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
