#include "tests/unit/snapshotter/pull/folder_count.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

namespace soci::test {
namespace {

std::atomic<int> folders{0};

}  // namespace

int FolderCount() { return folders; }

}  // namespace soci::test

// Found before libc's by the dynamic linker.
extern "C" int mkdir(const char* path, mode_t mode) noexcept {
  ++soci::test::folders;
  return static_cast<int>(::syscall(SYS_mkdirat, AT_FDCWD, path, mode));
}
