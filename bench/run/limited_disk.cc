#include "bench/run/limited_disk.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/loop.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "bench/run/child.h"
#include "indexer/base/unique_fd.h"
#include "tests/e2e/support/process.h"
#include "tests/support/disk_limits.h"

namespace soci::bench {
namespace {

constexpr char kGroup[] = "/sys/fs/cgroup/blkio";
constexpr uint64_t kMostBytes = uint64_t{256} << 30, kLeastBytes = uint64_t{1} << 30;
constexpr int kAttempts = 20;
// The first cgroup namespace, whose root is the root.
constexpr ino_t kFirstCgroupNamespace = 0xEFFFFFFB;

[[noreturn]] void ThrowErrno(const std::string& what) {
  throw std::runtime_error(fmt::format("a limited disk: {}: {}", what, std::strerror(errno)));
}

// Sparse: it takes what is written to it.
UniqueFd MakeFile(const std::string& folder) {
  struct statvfs space {};
  if (::statvfs(folder.c_str(), &space) != 0) ThrowErrno(folder);
  const uint64_t free = uint64_t{space.f_bavail} * space.f_frsize;
  UniqueFd file(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (!file) ThrowErrno("no file in " + folder);
  if (::ftruncate(file.get(), static_cast<off_t>(std::clamp(free, kLeastBytes, kMostBytes))) != 0)
    ThrowErrno("its size");
  return file;
}

struct Loop {
  UniqueFd fd;
  std::string path;
};

Loop Attach(const UniqueFd& file) {
  const UniqueFd control(::open("/dev/loop-control", O_RDWR | O_CLOEXEC));
  if (!control) ThrowErrno("/dev/loop-control");
  for (int attempt = 0;; ++attempt) {  // others look for a free one too
    const int number = ::ioctl(control.get(), LOOP_CTL_GET_FREE);
    if (number < 0) ThrowErrno("no free loop device");
    Loop loop{UniqueFd(), fmt::format("/dev/loop{}", number)};
    loop.fd.Reset(::open(loop.path.c_str(), O_RDWR | O_CLOEXEC));
    if (!loop.fd) ThrowErrno(loop.path);
    loop_config config{};
    config.fd = static_cast<uint32_t>(file.get());
    config.block_size = 4096;
    // Its own page cache would hold everything a second time.
    config.info.lo_flags = LO_FLAGS_AUTOCLEAR | LO_FLAGS_DIRECT_IO;
    if (::ioctl(loop.fd.get(), LOOP_CONFIGURE, &config) == 0) return loop;
    if (errno != EBUSY || attempt == kAttempts) ThrowErrno(loop.path);
  }
}

}  // namespace

Status LimitedDisk::Supported() {
  const auto lacks = [](const std::string& what) {
    return absl::UnimplementedError("a disk cannot be limited here: " + what);
  };
  struct stat space {};
  if (::geteuid() != 0) return lacks("only root may");
  if (::access((std::string(kGroup) + "/blkio.throttle.write_bps_device").c_str(), W_OK) != 0) {
    return lacks("cgroup v1's blkio controller is not at " + std::string(kGroup));
  }
  if (::stat("/proc/thread-self/ns/cgroup", &space) == 0 && space.st_ino != kFirstCgroupNamespace) {
    return lacks("this is a container, and the kernel's own writes are not its");
  }
  if (::access("/dev/loop-control", W_OK) != 0) return lacks("there are no loop devices");
  return OkStatus();
}

LimitedDisk::LimitedDisk(const test::Sandbox& sandbox, uint64_t bytes_per_second) : root_(sandbox.root()) {
  const Status supported = Supported();
  if (!supported.ok()) throw std::runtime_error(std::string(Message(supported)));
  const UniqueFd file = MakeFile(std::filesystem::path(root_).parent_path());
  const Loop loop = Attach(file);  // held until the mount holds it
  const test::CommandResult made =
      test::RunCommand({"mkfs.ext4", "-q", "-E", "nodiscard,lazy_itable_init=1,lazy_journal_init=1", loop.path});
  if (!made.ok()) throw std::runtime_error("a limited disk: mkfs.ext4: " + LastLine(made.err));
  if (::mount(loop.path.c_str(), root_.c_str(), "ext4", MS_NOATIME, "noinit_itable") != 0) ThrowErrno("mount");
  struct stat device {};
  if (::fstat(loop.fd.get(), &device) != 0) ThrowErrno(loop.path);
  device_ = fmt::format("{}:{}", major(device.st_rdev), minor(device.st_rdev));
  if (!test::LimitDevice(device_, bytes_per_second)) ThrowErrno("setting the limit");
  std::ofstream(std::string(kGroup) + "/tasks") << 0;  // this thread
  // A container's group in it would have a limit of its own.
  if (::umount2(kGroup, MNT_DETACH) != 0) ThrowErrno(kGroup);
}

LimitedDisk::~LimitedDisk() {
  test::LimitDevice(device_, 0);
  ::umount2(root_.c_str(), UMOUNT_NOFOLLOW);
}

}  // namespace soci::bench
