// Everything that goes around libfuse: opening /dev/fuse, mount(2) and umount2(2), the kernel's INIT request across a
// takeover, and what can only be set through /sys.
//
// Free functions; any thread. Errors name the path.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "indexer/base/result.h"
#include "indexer/base/unique_fd.h"

struct iovec;

namespace soci {

// kFailedPrecondition if it is missing or may not be opened.
Result<UniqueFd> OpenFuseDevice();

// Mounts read-only, for all users, with the kernel's permission checks. kFailedPrecondition without the right to mount.
Status MountFuse(int device, const std::string& source, const std::string& mount_point);

// Lazily; a path that is no mount point is fine.
void DetachMount(const std::string& mount_point);

// Takes away what a process that died left at this path (ENOTCONN), however many lie on each other.
// kFailedPrecondition if something alive is mounted there.
Status ClearMountPoint(const std::string& mount_point);

// Whether the kernel still has a mount behind this descriptor.
bool IsConnected(int device);

// KiB that the kernel reads ahead in a mount; INIT can only lower its default. Best effort.
void SetReadAhead(const std::string& mount_point, unsigned kib);

// Ends the connection although someone may still answer late: the descriptor then leads to /dev/null. The kernel fails
// what waits and whatever comes later.
void SeverDevice(int device);

// Stands between libfuse and the descriptor for the sake of INIT. A fresh session's INIT request is saved before it is
// answered, and the answer gets what libfuse 3.14 forgets in it; a session that takes over is fed the saved request,
// and its answer is swallowed, as the kernel had one already.
class InitExchange {
 public:
  using Save = std::function<void(std::string_view init_request)>;

  static InitExchange Fresh(Save save) { return InitExchange(std::move(save), {}); }
  static InitExchange Resumed(std::string init_request) { return InitExchange({}, std::move(init_request)); }
  InitExchange(InitExchange&& other) noexcept;

  bool resumed() const { return !saved_init_.empty(); }

  // As read(2) and writev(2). In a resumed session the first Read, and its answer, happen before any other.
  ssize_t Read(int device, void* buffer, size_t size);
  ssize_t Write(int device, const iovec* parts, int count);

 private:
  InitExchange(Save save, std::string saved_init);
  void SeeFreshInit(std::string_view request);
  void CompleteAnswer(const iovec* parts, int count);

  Save save_;
  std::string saved_init_;
  std::atomic<bool> fed_{false};
  std::atomic<bool> swallowed_{false};
  // Of a fresh INIT request on its way through libfuse; the flags are written before the number.
  std::atomic<uint32_t> offered_flags_{0};
  std::atomic<uint64_t> unique_{0};
};

}  // namespace soci
