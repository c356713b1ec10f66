#include "bench/cli/preflight.h"

#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "bench/run/contestant.h"
#include "tests/e2e/support/containerd.h"

namespace soci::bench {
namespace {

Status Missing(std::string text) { return absl::FailedPreconditionError(std::move(text)); }

Status CheckWritable(const std::string& file) {
  if (file.empty()) return OkStatus();
  const std::string parent = std::filesystem::path(file).parent_path();
  const std::string folder = parent.empty() ? "." : parent;
  if (::access(folder.c_str(), W_OK | X_OK) == 0 && !std::filesystem::is_directory(file)) return OkStatus();
  return Missing(fmt::format("{} cannot be written: is there such a folder?", file));
}

bool IsThere(const std::string& program) {
  return program.find('/') == std::string::npos ? !FindInPath(program).empty() : ::access(program.c_str(), X_OK) == 0;
}

}  // namespace

Status CheckMachine(const RunOptions& options) {
  if (::geteuid() != 0) return Missing("run: it pulls, mounts and drops caches, and has to be started by root");
  SOCI_RETURN_IF_ERROR(CheckWritable(options.json));
  SOCI_RETURN_IF_ERROR(CheckWritable(options.html));
  std::vector<std::string> programs = {"docker-registry", "ctr"};
  if (options.containerd.empty()) programs = {"docker-registry", "containerd", "ctr", "runc"};
  for (const std::string& program : programs) {
    const bool of_containerd = program == "containerd" || program == "ctr";
    const std::string path = of_containerd ? test::Containerd::Program(program) : program;
    if (IsThere(path)) continue;
    return Missing(fmt::format("run: there is no {}; it needs containerd, runc and docker-registry", path));
  }
  return OkStatus();
}

std::string WhyDoubtful() {
  const char* set = std::getenv("TMPDIR");
  const std::string folder = set != nullptr && *set != '\0' ? set : "/tmp";
  struct statfs where {};
  if (::statfs(folder.c_str(), &where) != 0) return "";
  if (where.f_type != TMPFS_MAGIC && where.f_type != RAMFS_MAGIC) return "";
  return fmt::format("{} lies in memory, not on a disk: set TMPDIR, or nothing written is paid for", folder);
}

}  // namespace soci::bench
