#include "snapshotter/daemon/directory_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <cerrno>

#include "indexer/base/file_io.h"

namespace soci {

Result<DirectoryLock> DirectoryLock::Take(const std::string& directory) {
  const std::string path = directory + "/lock";
  SOCI_ASSIGN_OR_RETURN(UniqueFd file, OpenFile(path, O_RDWR | O_CREAT, 0600));
  if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0) return DirectoryLock(std::move(file));
  if (errno != EWOULDBLOCK) return ErrnoStatus(errno, "locking " + path);
  return absl::FailedPreconditionError(fmt::format("{} is in use by another soci-snapshotter", directory));
}

}  // namespace soci
