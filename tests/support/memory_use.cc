#include "tests/support/memory_use.h"

#include <unistd.h>

#include <fstream>
#include <limits>
#include <string>

namespace soci::test {

uint64_t AnonymousBytes(pid_t process) {
  const std::string who = process == 0 ? "self" : std::to_string(process);
  std::ifstream rollup("/proc/" + who + "/smaps_rollup");
  for (std::string line; std::getline(rollup, line);) {
    if (line.rfind("Anonymous:", 0) == 0) return std::stoull(line.substr(10)) * 1024;
  }
  return std::numeric_limits<uint64_t>::max();
}

uint64_t ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  uint64_t total = 0, resident = 0;
  statm >> total >> resident;
  return resident * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace soci::test
