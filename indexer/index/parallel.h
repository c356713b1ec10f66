// Runs one task per item on a few threads, for work that blocks: a layer each.
#pragma once

#include <algorithm>
#include <cstddef>
#include <latch>
#include <stop_token>
#include <thread>
#include <vector>

#include "indexer/base/mutex.h"
#include "indexer/base/result.h"
#include "indexer/base/thread_pool.h"

namespace soci {

// `threads` 0: one per core. After the first failure the tasks that have not begun are left out, and `stop` asks the
// others to end; the failure is the answer. `task` is called from several threads at once.
template <typename Item, typename Task>
Status ForEachInParallel(const std::vector<Item>& items, size_t threads, std::stop_source& stop, Task task) {
  struct {
    Mutex mutex;
    Status failure SOCI_GUARDED_BY(mutex);
  } shared;
  if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
  std::latch left(static_cast<std::ptrdiff_t>(items.size()));
  ThreadPool pool("index", std::clamp<size_t>(threads, 1, std::max<size_t>(items.size(), 1)));
  for (const Item& item : items) {
    pool.Post([&] {
      const Status status = stop.stop_requested() ? OkStatus() : task(item);
      if (!status.ok()) {
        stop.request_stop();
        MutexLock lock(shared.mutex);
        shared.failure.Update(status);
      }
      left.count_down();
    });
  }
  left.wait();
  MutexLock lock(shared.mutex);
  return shared.failure;
}

}  // namespace soci
