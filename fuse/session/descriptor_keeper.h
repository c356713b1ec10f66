// Holds what a successor needs to go on with a mount: the /dev/fuse descriptor, the kernel's INIT request and the
// numbering the mount was made with. A keeper process can stand behind it. Any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "indexer/base/result.h"
#include "indexer/base/unique_fd.h"

namespace soci {

struct KeptMount {
  std::string init_request;  // raw, as read from the kernel; empty if it never came
  uint32_t layout = 1;       // numbering of inodes the mount was made with
  UniqueFd device;
};

class DescriptorKeeper {
 public:
  virtual ~DescriptorKeeper() = default;
  virtual Status Keep(const std::string& mount_point, int device, uint32_t layout) = 0;
  virtual Status SaveInit(const std::string& mount_point, std::string_view init_request) = 0;
  // What a predecessor left for this mount point, with a descriptor of its own; nothing if it left none.
  virtual Result<std::optional<KeptMount>> Take(const std::string& mount_point) = 0;
  virtual void Forget(const std::string& mount_point) = 0;
};

}  // namespace soci
