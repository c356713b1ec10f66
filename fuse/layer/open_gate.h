// Lets callers through until it is closed; closing waits for those inside. For callbacks that may outlive what they
// work on. Any thread; never close it from inside.
#pragma once

#include "indexer/base/mutex.h"

namespace soci {

class OpenGate {
 public:
  // Whether the caller may go on; if so it is inside until it is destroyed.
  class Pass {
   public:
    explicit Pass(OpenGate& gate) : gate_(gate.Enter() ? &gate : nullptr) {}
    ~Pass() {
      if (gate_ != nullptr) gate_->Leave();
    }
    Pass(const Pass&) = delete;
    Pass& operator=(const Pass&) = delete;
    explicit operator bool() const { return gate_ != nullptr; }

   private:
    OpenGate* gate_;
  };

  void Close() {
    MutexLock lock(mutex_);
    closed_ = true;
    while (inside_ != 0) left_.Wait(mutex_);
  }

 private:
  bool Enter() {
    MutexLock lock(mutex_);
    if (closed_) return false;
    ++inside_;
    return true;
  }
  void Leave() {
    MutexLock lock(mutex_);
    if (--inside_ == 0) left_.NotifyAll();
  }

  Mutex mutex_;  // a leaf
  CondVar left_;
  bool closed_ SOCI_GUARDED_BY(mutex_) = false;
  int inside_ SOCI_GUARDED_BY(mutex_) = 0;
};

}  // namespace soci
