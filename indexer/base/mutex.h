// std::mutex with clang's thread-safety annotations. Not absl::Mutex: Debian's build is not instrumented and
// ThreadSanitizer would lie about it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define SOCI_TSA(x) __attribute__((x))
#else
#define SOCI_TSA(x)
#endif
#define SOCI_GUARDED_BY(x) SOCI_TSA(guarded_by(x))
#define SOCI_REQUIRES(...) SOCI_TSA(requires_capability(__VA_ARGS__))
#define SOCI_EXCLUDES(...) SOCI_TSA(locks_excluded(__VA_ARGS__))
#define SOCI_NO_THREAD_SAFETY_ANALYSIS SOCI_TSA(no_thread_safety_analysis)

namespace soci {

class SOCI_TSA(capability("mutex")) Mutex {
 public:
  void lock() SOCI_TSA(acquire_capability()) { mutex_.lock(); }
  void unlock() SOCI_TSA(release_capability()) { mutex_.unlock(); }
  bool try_lock() SOCI_TSA(try_acquire_capability(true)) { return mutex_.try_lock(); }
  // Tells the analysis that the caller's caller holds it, where the two know it by different names.
  void AssertHeld() SOCI_TSA(assert_capability(this)) {}

 private:
  friend class CondVar;
  std::mutex mutex_;
};

class SOCI_TSA(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) SOCI_TSA(acquire_capability(mutex)) : mutex_(mutex) { mutex_.lock(); }
  ~MutexLock() SOCI_TSA(release_capability()) { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

// Waits happen in a loop over the condition, with the mutex held.
class CondVar {
 public:
  void Wait(Mutex& mutex) SOCI_REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    condition_.wait(lock);
    lock.release();
  }
  // False when the time is over.
  bool WaitUntil(Mutex& mutex, std::chrono::steady_clock::time_point deadline) SOCI_REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    bool in_time = condition_.wait_until(lock, deadline) == std::cv_status::no_timeout;
    lock.release();
    return in_time;
  }
  bool WaitFor(Mutex& mutex, std::chrono::nanoseconds time) SOCI_REQUIRES(mutex) {
    return WaitUntil(mutex, std::chrono::steady_clock::now() + time);
  }
  void NotifyOne() { condition_.notify_one(); }
  void NotifyAll() { condition_.notify_all(); }

 private:
  std::condition_variable condition_;
};

}  // namespace soci
