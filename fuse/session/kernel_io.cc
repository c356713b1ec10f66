#include "fuse/session/kernel_io.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fuse.h>
#include <poll.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <utility>

#include "indexer/base/log.h"

namespace soci {
namespace {

constexpr char kDevice[] = "/dev/fuse";
constexpr int kDeadMountLimit = 64;  // mounts on one path; more than anyone leaves by restarting

absl::Status Precondition(std::string text, int error) {
  return absl::FailedPreconditionError(fmt::format("{}: {}", text, std::strerror(error)));
}

// Whether `path` is the root of a mount, asked without the server behind it.
bool IsMountRoot(const std::string& path) {
  struct statx answer {};
  int rc =
      ::statx(AT_FDCWD, path.c_str(), AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC, STATX_TYPE, &answer);
  return rc == 0 && (answer.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
}

}  // namespace

Result<UniqueFd> OpenFuseDevice() {
  UniqueFd device(::open(kDevice, O_RDWR | O_CLOEXEC | O_NONBLOCK));
  if (!device) return Precondition(fmt::format("opening {} (is the fuse module loaded?)", kDevice), errno);
  return device;
}

Status MountFuse(int device, const std::string& source, const std::string& mount_point) {
  std::string options =
      fmt::format("fd={},rootmode=40000,user_id=0,group_id=0,default_permissions,allow_other", device);
  if (::mount(source.c_str(), mount_point.c_str(), "fuse.soci", MS_RDONLY | MS_NOATIME, options.c_str()) == 0) {
    return OkStatus();
  }
  if (errno == EPERM) return Precondition(fmt::format("mounting {} (needs CAP_SYS_ADMIN)", mount_point), EPERM);
  return ErrnoStatus(errno, "mounting " + mount_point);
}

void DetachMount(const std::string& mount_point) {
  if (::umount2(mount_point.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW) == 0) return;
  if (errno != EINVAL && errno != ENOENT) log::Warning("unmounting {}: {}", mount_point, std::strerror(errno));
}

Status ClearMountPoint(const std::string& mount_point) {
  for (int i = 0; i < kDeadMountLimit && IsMountRoot(mount_point); ++i) {
    // Not stat: the kernel may answer that from what the dead server once told it.
    struct statfs answer {};
    if (::statfs(mount_point.c_str(), &answer) == 0 || errno != ENOTCONN) {
      return absl::FailedPreconditionError(fmt::format("{} is a mount point already", mount_point));
    }
    log::Info("taking away the dead mount at {}", mount_point);
    DetachMount(mount_point);
  }
  return OkStatus();
}

bool IsConnected(int device) {
  pollfd entry{device, POLLIN, 0};
  return ::poll(&entry, 1, 0) >= 0 && (entry.revents & (POLLERR | POLLHUP | POLLNVAL)) == 0;
}

void SetReadAhead(const std::string& mount_point, unsigned kib) {
  struct stat answer {};
  if (::stat(mount_point.c_str(), &answer) != 0) return;
  std::string path = fmt::format("/sys/class/bdi/{}:{}/read_ahead_kb", major(answer.st_dev), minor(answer.st_dev));
  std::ofstream file(path);
  file << kib << std::flush;
  if (!file) log::Debug("cannot set {}; {} reads ahead by the kernel's default", path, mount_point);
}

void SeverDevice(int device) {
  UniqueFd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!nothing || ::dup3(nothing.get(), device, O_CLOEXEC) < 0) {
    log::Error("cannot close a FUSE descriptor: {}", std::strerror(errno));
  }
}

InitExchange::InitExchange(Save save, std::string saved_init)
    : save_(std::move(save)), saved_init_(std::move(saved_init)) {}

InitExchange::InitExchange(InitExchange&& other) noexcept
    : save_(std::move(other.save_)),
      saved_init_(std::move(other.saved_init_)),
      fed_(other.fed_.load()),
      swallowed_(other.swallowed_.load()) {}

ssize_t InitExchange::Read(int device, void* buffer, size_t size) {
  if (resumed() && !fed_.exchange(true)) {
    if (saved_init_.size() > size) return errno = EINVAL, -1;
    std::memcpy(buffer, saved_init_.data(), saved_init_.size());
    return static_cast<ssize_t>(saved_init_.size());
  }
  ssize_t got = ::read(device, buffer, size);
  if (got > 0 && !resumed()) SeeFreshInit({static_cast<const char*>(buffer), static_cast<size_t>(got)});
  return got;
}

void InitExchange::SeeFreshInit(std::string_view request) {
  fuse_in_header header;
  if (request.size() < sizeof header) return;
  std::memcpy(&header, request.data(), sizeof header);
  if (header.opcode != FUSE_INIT) return;
  fuse_init_in init{};
  request.copy(reinterpret_cast<char*>(&init), sizeof init, sizeof header);
  offered_flags_ = init.flags;
  unique_ = header.unique;
  if (save_) save_(request);
}

ssize_t InitExchange::Write(int device, const iovec* parts, int count) {
  if (resumed() && !swallowed_.exchange(true)) {
    ssize_t size = 0;
    for (int i = 0; i < count; ++i) size += static_cast<ssize_t>(parts[i].iov_len);
    return size;
  }
  CompleteAnswer(parts, count);
  return ::writev(device, parts, count);
}

// libfuse 3.14 takes FUSE_CAP_PARALLEL_DIROPS and does not tell the kernel.
void InitExchange::CompleteAnswer(const iovec* parts, int count) {
  uint64_t unique = unique_;
  if (unique == 0 || count < 2) return;
  fuse_out_header header;
  std::memcpy(&header, parts[0].iov_base, sizeof header);
  if (header.unique != unique || header.error != 0) return;
  unique_ = 0;
  auto* answer = static_cast<char*>(parts[1].iov_base);
  uint32_t flags;
  std::memcpy(&flags, answer + offsetof(fuse_init_out, flags), sizeof flags);
  flags |= offered_flags_ & FUSE_PARALLEL_DIROPS;
  std::memcpy(answer + offsetof(fuse_init_out, flags), &flags, sizeof flags);
}

}  // namespace soci
