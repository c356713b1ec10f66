#include "tests/support/allocation_meter.h"

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace soci::test {
namespace {

std::atomic<size_t> now = 0;
std::atomic<size_t> most = 0;

void* Allocate(size_t size, size_t alignment) {
  void* memory = alignment == 0 ? std::malloc(size == 0 ? 1 : size)
                                : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  const size_t after = now += ::malloc_usable_size(memory);
  size_t known = most;
  while (after > known && !most.compare_exchange_weak(known, after)) {
  }
  return memory;
}

void Release(void* memory) {
  if (memory != nullptr) now -= ::malloc_usable_size(memory);
  std::free(memory);
}

}  // namespace

AllocationMeter::AllocationMeter() : before_(now) { most = before_; }

size_t AllocationMeter::Peak() const { return most - before_; }

}  // namespace soci::test

void* operator new(size_t size) { return soci::test::Allocate(size, 0); }
void* operator new(size_t size, std::align_val_t alignment) {
  return soci::test::Allocate(size, static_cast<size_t>(alignment));
}
void operator delete(void* memory) noexcept { soci::test::Release(memory); }
void operator delete(void* memory, size_t) noexcept { soci::test::Release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { soci::test::Release(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { soci::test::Release(memory); }
