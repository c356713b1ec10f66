#include "snapshotter/pull/parallel_for.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace soci {

void ParallelFor(size_t count, size_t width, const std::function<void(size_t)>& task) {
  std::atomic<size_t> next = 0;
  auto work = [&] {
    for (size_t i = next++; i < count; i = next++) task(i);
  };
  std::vector<std::thread> others;
  const size_t threads = std::min(count, width);
  for (size_t i = 1; i < threads; ++i) others.emplace_back(work);
  work();
  for (std::thread& other : others) other.join();
}

}  // namespace soci
