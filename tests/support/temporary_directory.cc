#include "tests/support/temporary_directory.h"

#include <sys/mount.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

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
  std::ifstream mounts("/proc/self/mountinfo");
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
}

TemporaryDirectory::~TemporaryDirectory() {
  UnmountAllBelow(path_);
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace soci::test
