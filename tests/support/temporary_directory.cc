#include "tests/support/temporary_directory.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

extern char** environ;

namespace soci::test {
namespace {

// /proc/self/mountinfo writes blanks and the like as \ooo.
std::string Unescape(const std::string& text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size()) {
      plain += static_cast<char>(std::stoi(text.substr(i + 1, 3), nullptr, 8));
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

}  // namespace

std::vector<std::string> MountPointsBelow(const std::string& folder) {
  std::vector<std::string> points;
  std::ifstream mounts("/proc/thread-self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream fields(line);
    std::string point;
    for (int field = 0; field < 5; ++field) fields >> point;
    point = Unescape(point);
    if (point == folder || point.rfind(folder + "/", 0) == 0) points.push_back(point);
  }
  return points;
}

int UnmountAllBelow(const std::string& folder) {
  std::vector<std::string> points = MountPointsBelow(folder);
  // Later mounts lie on earlier ones.
  std::reverse(points.begin(), points.end());
  for (const std::string& point : points) ::umount2(point.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW);
  return static_cast<int>(points.size());
}

TemporaryDirectory::TemporaryDirectory() {
  const char* base = std::getenv("TMPDIR");
  std::string pattern = std::string(base && *base ? base : "/tmp") + "/soci-test-XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot make a directory like " + pattern);
  path_ = std::filesystem::canonical(pattern).string();
  StartGuardian();
}

TemporaryDirectory::~TemporaryDirectory() {
  RemoveDirectory(path_);
  if (guardian_ < 0) return;
  ::close(guardian_input_);
  ::kill(guardian_, SIGKILL);  // nothing is left for it; a child of ours may still hold its input
  ::waitpid(guardian_, nullptr, 0);
}

void TemporaryDirectory::StartGuardian() {
  std::array<int, 2> ends;
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe failed");
  guardian_input_ = ends[1];
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[0], 0);
  std::string program = SOCI_GUARDIAN;
  std::array<char*, 3> arguments = {program.data(), path_.data(), nullptr};
  const int error = ::posix_spawn(&guardian_, program.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[0]);
  if (error == 0) return;
  ::close(guardian_input_);
  guardian_ = -1;
  throw std::runtime_error("cannot start " + program);
}

void RemoveDirectory(const std::string& path) {
  UnmountAllBelow(path);
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

}  // namespace soci::test
