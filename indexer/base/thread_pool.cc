#include "indexer/base/thread_pool.h"

#include <pthread.h>

#include <utility>

namespace soci {

ThreadPool::ThreadPool(std::string name, size_t threads) {
  threads_.reserve(threads);
  for (size_t i = 0; i < threads; ++i) {
    threads_.emplace_back([this, name] {
      pthread_setname_np(pthread_self(), name.substr(0, 15).c_str());
      Run();
    });
  }
}

ThreadPool::~ThreadPool() {
  std::deque<Task> dropped_urgent, dropped;  // destroyed without the lock: a task's captures may post
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    dropped_urgent.swap(urgent_);
    dropped.swap(tasks_);
  }
  wake_.NotifyAll();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadPool::Post(Task task) {
  {
    MutexLock lock(mutex_);
    if (stopping_) return;
    tasks_.push_back(std::move(task));
  }
  wake_.NotifyOne();
}

void ThreadPool::PostUrgent(Task task) {
  {
    MutexLock lock(mutex_);
    if (stopping_) return;
    urgent_.push_back(std::move(task));
  }
  wake_.NotifyOne();
}

void ThreadPool::Run() {
  for (;;) {
    Task task;
    {
      MutexLock lock(mutex_);
      while (!stopping_ && urgent_.empty() && tasks_.empty()) wake_.Wait(mutex_);
      if (stopping_) return;
      task = TakeNext();
    }
    task();
  }
}

bool ThreadPool::RunOne() {
  Task task;
  {
    MutexLock lock(mutex_);
    if (urgent_.empty() && tasks_.empty()) return false;
    task = TakeNext();
  }
  task();
  return true;
}

ThreadPool::Task ThreadPool::TakeNext() {
  std::deque<Task>& queue = urgent_.empty() ? tasks_ : urgent_;
  Task task = std::move(queue.front());
  queue.pop_front();
  return task;
}

}  // namespace soci
