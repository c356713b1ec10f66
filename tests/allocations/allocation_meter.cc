#include "tests/allocations/allocation_meter.h"

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace soci::test {
namespace {

std::atomic<size_t> now = 0;
std::atomic<size_t> most = 0;

[[maybe_unused]] void* Allocate(size_t size, size_t alignment) {
  void* memory = alignment == 0 ? std::malloc(size == 0 ? 1 : size)
                                : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  const size_t after = now += ::malloc_usable_size(memory);
  size_t known = most;
  while (after > known && !most.compare_exchange_weak(known, after)) {
  }
  return memory;
}

[[maybe_unused]] void Release(void* memory) {
  if (memory != nullptr) now -= ::malloc_usable_size(memory);
  std::free(memory);
}

}  // namespace

AllocationMeter::AllocationMeter() : before_(now) { most = before_; }

size_t AllocationMeter::Peak() const { return most - before_; }

}  // namespace soci::test

// Sanitizers have operators of their own, which find more than a count.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
void* operator new(size_t size) { return soci::test::Allocate(size, 0); }
void* operator new(size_t size, std::align_val_t alignment) {
  return soci::test::Allocate(size, static_cast<size_t>(alignment));
}
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  try {
    return soci::test::Allocate(size, 0);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void operator delete(void* memory) noexcept { soci::test::Release(memory); }
void operator delete(void* memory, size_t) noexcept { soci::test::Release(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { soci::test::Release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { soci::test::Release(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { soci::test::Release(memory); }
#endif
