#include "snapshotter/overlay/space_reserve.h"

#include <fcntl.h>
#include <unistd.h>

#include "indexer/base/file_io.h"

namespace soci {
namespace {

constexpr off_t kBytes = 1 << 20;  // many times what the database writes to remove a snapshot

}  // namespace

void SpaceReserve::Hold() const {
  const auto file = OpenFile(path_, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
  if (file.ok() && ::posix_fallocate(file->get(), 0, kBytes) != 0) GiveUp();
}

bool SpaceReserve::GiveUp() const { return ::unlink(path_.c_str()) == 0; }

}  // namespace soci
