#include "tests/unit/snapshotter/pull/sync_count.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

namespace soci::test {
namespace {

std::atomic<int> syncs{0};

int Counted(long call, int fd) {
  ++syncs;
  return static_cast<int>(::syscall(call, fd));
}

}  // namespace

int SyncCount() { return syncs; }

}  // namespace soci::test

// Found before libc's by the dynamic linker.
extern "C" {
int fsync(int fd) { return soci::test::Counted(SYS_fsync, fd); }
int fdatasync(int fd) { return soci::test::Counted(SYS_fdatasync, fd); }
int syncfs(int fd) noexcept { return soci::test::Counted(SYS_syncfs, fd); }
}
