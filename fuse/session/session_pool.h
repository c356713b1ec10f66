// The Mounter on libfuse: every mount a session, all sessions on one set of threads.
//
// Any thread. The handles it gives go before it does; the keeper outlives it.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>

#include "fuse/session/descriptor_keeper.h"
#include "fuse/session/mounter.h"
#include "fuse/session/serving_threads.h"
#include "fuse/session/session.h"
#include "indexer/base/result.h"

namespace soci {

class SessionPool : public Mounter {
 public:
  struct Options {
    unsigned threads = 0;  // 0: one per core
    SessionOptions session;
    // Sequential cold reads: 128 KiB 1.9, 1024 KiB 2.7, 4096 KiB 2.3 GB/s.
    unsigned read_ahead_kib = 1024;
    // How long a mount that goes away waits for reads that the layer has not answered; then they fail.
    std::chrono::milliseconds reply_grace = std::chrono::seconds(2);
    // Each mount takes a descriptor for as long as it lives; one more is refused with kResourceExhausted.
    size_t most_mounts = ~size_t{0};
  };

  static Result<std::unique_ptr<SessionPool>> Start(DescriptorKeeper& keeper, const Options& options);
  static Result<std::unique_ptr<SessionPool>> Start(DescriptorKeeper& keeper) { return Start(keeper, Options()); }

  // Goes on with the mount that the keeper has for this path, if it is whole and of our numbering.
  Result<std::unique_ptr<MountHandle>> Mount(LayerReader& layer, const std::string& mount_point) override;

 private:
  class Mounted;
  class Place;

  SessionPool(DescriptorKeeper& keeper, const Options& options, std::unique_ptr<ServingThreads> threads);
  Result<std::shared_ptr<Session>> TakeOver(LayerReader& layer, const std::string& mount_point);
  Result<std::shared_ptr<Session>> MountAnew(LayerReader& layer, const std::string& mount_point);

  DescriptorKeeper& keeper_;
  const Options options_;
  const std::unique_ptr<ServingThreads> threads_;
  std::atomic<size_t> mounts_ = 0;
};

}  // namespace soci
