#include "bench/run/cold.h"

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <vector>

#include "indexer/base/unique_fd.h"

namespace soci::bench {

bool DropCaches() {
  ::sync();
  UniqueFd fd(::open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC));
  return fd && ::write(fd.get(), "3", 1) == 1;
}

void WarmFolder(const std::string& folder) {
  std::vector<char> piece(1 << 20);
  std::error_code ignored;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, ignored)) {
    if (!entry.is_regular_file(ignored)) continue;
    UniqueFd fd(::open(entry.path().c_str(), O_RDONLY | O_CLOEXEC));
    while (fd && ::read(fd.get(), piece.data(), piece.size()) > 0) {
    }
  }
}

}  // namespace soci::bench
