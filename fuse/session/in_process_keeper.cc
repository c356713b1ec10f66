#include "fuse/session/in_process_keeper.h"

#include <fcntl.h>

#include <cerrno>
#include <utility>

namespace soci {
namespace {

Result<UniqueFd> Duplicate(int fd, const std::string& mount_point) {
  UniqueFd copy(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
  if (!copy) return ErrnoStatus(errno, "keeping the FUSE descriptor of " + mount_point);
  return copy;
}

}  // namespace

Status InProcessKeeper::Keep(const std::string& mount_point, int device, uint32_t layout) {
  SOCI_ASSIGN_OR_RETURN(UniqueFd copy, Duplicate(device, mount_point));
  MutexLock lock(mutex_);
  kept_[mount_point] = KeptMount{"", layout, std::move(copy)};
  return OkStatus();
}

Status InProcessKeeper::SaveInit(const std::string& mount_point, std::string_view init_request) {
  MutexLock lock(mutex_);
  auto found = kept_.find(mount_point);
  if (found == kept_.end()) return absl::NotFoundError("no FUSE descriptor is kept for " + mount_point);
  found->second.init_request = init_request;
  return OkStatus();
}

Result<std::optional<KeptMount>> InProcessKeeper::Take(const std::string& mount_point) {
  MutexLock lock(mutex_);
  auto found = kept_.find(mount_point);
  if (found == kept_.end()) return std::optional<KeptMount>();
  SOCI_ASSIGN_OR_RETURN(UniqueFd copy, Duplicate(found->second.device.get(), mount_point));
  return std::optional<KeptMount>(KeptMount{found->second.init_request, found->second.layout, std::move(copy)});
}

void InProcessKeeper::Forget(const std::string& mount_point) {
  MutexLock lock(mutex_);
  kept_.erase(mount_point);
}

}  // namespace soci
