// Tries again, after a while, to seal layers that the disk did not let be sealed: it was full, mostly. The first wait
// of a layer is the shortest; each further one is twice as long, up to a limit.
//
// Has a thread once there is something to wait for. Any thread.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <thread>

#include "indexer/base/mutex.h"
#include "indexer/oci/digest.h"

namespace soci {

class SealRetries {
 public:
  struct Delay {
    std::chrono::milliseconds first = std::chrono::seconds(10);
    std::chrono::milliseconds longest = std::chrono::minutes(5);
  };

  // `again` is called on the thread, and is quick.
  SealRetries(std::function<void(const oci::LayerDigest&)> again, Delay delay);
  ~SealRetries() { Stop(); }

  // Waits for a call that is under way; none comes any more.
  void Stop();

  void Later(const oci::LayerDigest& layer);
  // It is sealed, or has gone.
  void Forget(const oci::LayerDigest& layer);

 private:
  struct Wait {
    std::chrono::milliseconds delay;
    std::optional<std::chrono::steady_clock::time_point> due;  // none while it is being tried
  };

  void Run();

  const std::function<void(const oci::LayerDigest&)> again_;
  const Delay delay_;
  Mutex mutex_;  // a leaf
  CondVar changed_;
  std::map<oci::LayerDigest, Wait> waits_ SOCI_GUARDED_BY(mutex_);
  bool stopping_ SOCI_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // made under it
};

}  // namespace soci
