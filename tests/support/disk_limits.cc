#include "tests/support/disk_limits.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <sstream>

namespace soci::test {
namespace {

bool WriteTo(const std::string& file, const std::string& text) {
  const int fd = ::open(file.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool written = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int error = errno;
  ::close(fd);
  errno = error;
  return written;
}

}  // namespace

bool LimitDevice(const std::string& device, uint64_t bytes_per_second) {
  std::string folder = "/tmp/soci-blkio-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) return false;
  bool done = ::mount("cgroup", folder.c_str(), "cgroup", 0, "blkio") == 0;
  int error = errno;
  if (done) {
    const std::string rule = device + " " + std::to_string(bytes_per_second);
    done = WriteTo(folder + "/blkio.throttle.read_bps_device", rule) &&
           WriteTo(folder + "/blkio.throttle.write_bps_device", rule);
    error = errno;
    ::umount2(folder.c_str(), MNT_DETACH);
  }
  ::rmdir(folder.c_str());
  errno = error;
  return done;
}

void LiftLimitsBelow(const std::string& folder) {
  std::ifstream mounts("/proc/thread-self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream fields(line);
    std::string number, parent, device, root, point;
    fields >> number >> parent >> device >> root >> point;
    const bool below = point == folder || point.rfind(folder + "/", 0) == 0;
    if (below && device.rfind("7:", 0) == 0) LimitDevice(device, 0);
  }
}

}  // namespace soci::test
