#include "snapshotter/pull/seal_retries.h"

#include <pthread.h>

#include <algorithm>
#include <utility>

namespace soci {

SealRetries::SealRetries(std::function<void(const oci::LayerDigest&)> again, Delay delay)
    : again_(std::move(again)), delay_(delay) {}

void SealRetries::Stop() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    changed_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
}

void SealRetries::Later(const oci::LayerDigest& layer) {
  MutexLock lock(mutex_);
  auto [place, is_first] = waits_.try_emplace(layer, Wait{delay_.first, {}});
  Wait& wait = place->second;
  if (!is_first) wait.delay = std::min(2 * wait.delay, delay_.longest);
  wait.due = std::chrono::steady_clock::now() + wait.delay;
  if (!thread_.joinable() && !stopping_) {
    thread_ = std::thread([this] {
      ::pthread_setname_np(::pthread_self(), "seal-retry");
      Run();
    });
  }
  changed_.NotifyAll();
}

void SealRetries::Forget(const oci::LayerDigest& layer) {
  MutexLock lock(mutex_);
  waits_.erase(layer);
}

void SealRetries::Run() {
  mutex_.lock();
  while (!stopping_) {
    auto next = waits_.end();
    for (auto wait = waits_.begin(); wait != waits_.end(); ++wait) {
      if (wait->second.due && (next == waits_.end() || *wait->second.due < *next->second.due)) next = wait;
    }
    if (next == waits_.end()) {
      changed_.Wait(mutex_);
    } else if (const auto due = *next->second.due; due > std::chrono::steady_clock::now()) {
      changed_.WaitUntil(mutex_, due);
    } else {
      const oci::LayerDigest layer = next->first;
      next->second.due.reset();
      mutex_.unlock();
      again_(layer);
      mutex_.lock();
    }
  }
  mutex_.unlock();
}

}  // namespace soci
