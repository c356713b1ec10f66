#include "bench/run/environment.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <ctime>
#include <fstream>
#include <sstream>

#include "bench/run/command_line.h"
#include "indexer/base/file_io.h"
#include "indexer/oci/digest.h"
#include "tests/e2e/support/containerd.h"
#include "tests/e2e/support/process.h"

namespace soci::bench {
namespace {

// What a program prints; empty if there is none.
std::string FirstLineOf(const std::vector<std::string>& command) {
  try {
    const std::string out = test::RunCommand(command).out;
    return out.substr(0, out.find('\n'));
  } catch (const std::exception&) {
    return "";
  }
}

std::string ProcessorName() {
  std::ifstream stream("/proc/cpuinfo");
  for (std::string line; std::getline(stream, line);) {
    if (line.rfind("model name", 0) == 0) return line.substr(std::min(line.find(": ") + 2, line.size()));
  }
  return "";
}

uint64_t MemoryBytes() {
  return static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

// "containerd github.com/containerd/containerd 1.6.20~ds1 ...": the third word.
std::string ContainerdVersion() {
  std::istringstream words(FirstLineOf({test::Containerd::Program("containerd"), "--version"}));
  std::string word;
  for (int i = 0; i < 3; ++i) words >> word;
  return word;
}

// Of the source the programs were built from, while they lie in its tree.
std::string Commit(const std::string& programs) {
  return FirstLineOf({"git", "-C", programs, "describe", "--always", "--dirty"});
}

constexpr size_t kShownDigits = 12;
constexpr size_t kMostProgramBytes = size_t{1} << 30;

}  // namespace

std::string VersionOf(const Contestant& contestant) {
  const auto words = SplitWords(contestant.version);
  if (!words.ok() || words->empty()) return "";
  std::string version = FirstLineOf(*words);
  if (!version.empty() && version.find("unknown") == std::string::npos) return version;
  const auto program = ReadFile(FindInPath(words->front()), kMostProgramBytes);
  if (!program.ok()) return version;
  const std::string digits = oci::Digest::Of(*program).Hex().substr(0, kShownDigits);
  return fmt::format("{} (sha256 of the program {}...)", version.empty() ? words->front() : version, digits);
}

Environment ThisEnvironment(const std::string& programs) {
  Environment environment;
  environment.date = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  environment.commit = Commit(programs);
  utsname name{};
  ::uname(&name);
  environment.kernel = name.release;
  environment.cpu = ProcessorName();
  environment.containerd = ContainerdVersion();
  environment.product = FirstLineOf({programs + "/soci-snapshotter", "--version"});
  environment.cores = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  environment.memory_bytes = MemoryBytes();
  return environment;
}

}  // namespace soci::bench
