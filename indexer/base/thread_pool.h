// A fixed number of threads that run tasks, urgent ones first, otherwise in the order given.
//
// Post never blocks. The destructor lets running tasks end, drops the waiting ones and joins. A pool without threads
// runs its tasks where RunOne is called: so that a simulation decides when.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "indexer/base/mutex.h"

namespace soci {

class ThreadPool {
 public:
  using Task = std::function<void()>;

  // `name` shows in top and in stack dumps (at most 12 characters).
  ThreadPool(std::string name, size_t threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  void Post(Task task);
  // Runs before everything posted by Post.
  void PostUrgent(Task task);
  // Runs the next waiting task on this thread. False: none waits.
  bool RunOne();

 private:
  void Run();
  Task TakeNext() SOCI_REQUIRES(mutex_);

  Mutex mutex_;  // a leaf: nothing else is locked under it
  CondVar wake_;
  std::deque<Task> urgent_ SOCI_GUARDED_BY(mutex_);
  std::deque<Task> tasks_ SOCI_GUARDED_BY(mutex_);
  bool stopping_ SOCI_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace soci
