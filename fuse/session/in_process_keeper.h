// Holds descriptors and INIT requests in this process, so that one set of sessions can hand its mounts to the next one
// within it. Any thread.
//
// A mount stays connected until Forget, even when its session is gone.
#pragma once

#include <map>
#include <string>

#include "fuse/session/descriptor_keeper.h"
#include "indexer/base/mutex.h"

namespace soci {

class InProcessKeeper : public DescriptorKeeper {
 public:
  Status Keep(const std::string& mount_point, int device, uint32_t layout) override;
  Status SaveInit(const std::string& mount_point, std::string_view init_request) override;
  Result<std::optional<KeptMount>> Take(const std::string& mount_point) override;
  void Forget(const std::string& mount_point) override;

 private:
  Mutex mutex_;  // a leaf
  std::map<std::string, KeptMount> kept_ SOCI_GUARDED_BY(mutex_);
};

}  // namespace soci
