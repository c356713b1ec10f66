// Waits for the disk on behalf of layers that are complete: one sync of the file system for as many as there are.
//
// A sync makes everybody who writes wait, containerd's own database too; so it is done when for some time no layer has
// come, in the middle of a pull only if that takes long. Whoever waits here serves the layer meanwhile and knows that
// it may not be on the disk. One for all of them, so it outlives whoever asks; what is asked for may still run while
// they end, and is theirs to guard. Any thread; what is asked for runs on the thread of the sync.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "indexer/base/mutex.h"

namespace soci {

class LayerSync {
 public:
  struct Delay {
    std::chrono::milliseconds quiet = std::chrono::seconds(2);     // after the last layer
    std::chrono::milliseconds longest = std::chrono::seconds(20);  // after the first; the kernel itself waits for 30 s
  };

  // `folder` is anywhere on the file system; it is there when the first layer is.
  explicit LayerSync(std::string folder) : LayerSync(std::move(folder), Delay()) {}
  LayerSync(std::string folder, Delay delay);
  // Waits for a sync that is under way. What has not begun is not done.
  ~LayerSync();

  // Runs it once all that was written before this call is on the disk; never, if the disk fails.
  void Later(std::function<void()> on_disk);

 private:
  void Run();
  // What waits now, when its time has come; nothing when it is the end.
  std::vector<std::function<void()>> Take();

  const std::string folder_;
  const Delay delay_;
  Mutex mutex_;  // a leaf
  CondVar changed_;
  std::vector<std::function<void()>> waiting_ SOCI_GUARDED_BY(mutex_);
  std::chrono::steady_clock::time_point first_ SOCI_GUARDED_BY(mutex_), last_ SOCI_GUARDED_BY(mutex_);
  bool stopping_ SOCI_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace soci
