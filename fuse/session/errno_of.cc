#include "fuse/session/errno_of.h"

#include <cerrno>

namespace soci {

int ErrnoOf(const Status& status) {
  if (status.ok()) return 0;
  if (std::optional<int> carried = StatusErrno(status); carried && *carried > 0) {
    bool misread = *carried == EINTR || *carried == EAGAIN || *carried == ENOSYS;
    return misread ? EIO : *carried;
  }
  switch (status.code()) {
    case absl::StatusCode::kNotFound:
      return ENOENT;
    case absl::StatusCode::kInvalidArgument:
      return EINVAL;
    case absl::StatusCode::kPermissionDenied:
      return EACCES;
    default:
      return EIO;
  }
}

}  // namespace soci
