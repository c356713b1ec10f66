#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <unordered_map>

#include "bench/image/random.h"
#include "bench/work/image.h"
#include "bench/work/report.h"
#include "bench/work/verbs.h"

namespace soci::bench {
namespace {

using Type = TreeEntry::Type;

constexpr size_t kOpens = 20'000;
// Where the image's files are; a container has other things elsewhere.
constexpr std::array<const char*, 5> kTops = {"usr", "opt", "models", "data", "var"};

struct Found {
  std::string path;
  struct stat status;
};

void Walk(const ImageRoot& root, const std::string& folder, std::vector<Found>& found) {
  const std::string path = root.folder + folder;
  DIR* const directory = ::opendir(path.c_str());
  if (directory == nullptr) FailWithErrno(path, "opendir");
  const size_t begin = found.size();
  while (const dirent* entry = ::readdir(directory)) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    found.push_back({folder + "/" + std::string(name), {}});
    if (::fstatat(::dirfd(directory), entry->d_name, &found.back().status, AT_SYMLINK_NOFOLLOW) != 0) {
      FailWithErrno(found.back().path, "fstatat");
    }
  }
  ::closedir(directory);
  const size_t end = found.size();
  for (size_t i = begin; i < end; ++i) {
    if (S_ISDIR(found[i].status.st_mode)) Walk(root, std::string(found[i].path), found);
  }
}

std::vector<Found> WalkAll(const ImageRoot& root) {
  std::vector<Found> found;
  for (const char* top : kTops) Walk(root, top, found);
  return found;
}

void Compare(const ImageRoot& root, const Found& found, const TreeEntry& expected) {
  const struct stat& status = found.status;
  const bool directory = expected.type == Type::kDirectory, link = expected.type == Type::kSymlink;
  if (S_ISDIR(status.st_mode) != directory || S_ISLNK(status.st_mode) != link) Fail(found.path, "is of another type");
  if (link) {
    std::array<char, 512> target;
    const ssize_t count = ::readlink((root.folder + found.path).c_str(), target.data(), target.size());
    if (count < 0) FailWithErrno(found.path, "readlink");
    if (std::string_view(target.data(), static_cast<size_t>(count)) != expected.target) {
      Fail(found.path, "is a link to something else");
    }
  } else if (!directory) {
    if (static_cast<uint64_t>(status.st_size) != expected.size) Fail(found.path, "has another size");
    if ((status.st_mode & 07777) != (expected.executable ? 0755 : 0644)) Fail(found.path, "has another mode");
  }
  if (expected.has_xattr) {
    std::array<char, 1024> value;
    const ssize_t count = ::getxattr((root.folder + found.path).c_str(), kXattrName, value.data(), value.size());
    if (count < 0) FailWithErrno(found.path, "getxattr");
    if (std::string_view(value.data(), static_cast<size_t>(count)) != expected.path) {
      Fail(found.path, "has another xattr");
    }
  }
}

bool IsBelowATop(const std::string& path) {
  return std::any_of(kTops.begin(), kTops.end(), [&](const char* top) {
    const size_t size = std::strlen(top);
    return path.compare(0, size, top) == 0 && path.size() > size && path[size] == '/';
  });
}

void OpenHereAndThere(const ImageRoot& root, const std::vector<Found>& found) {
  for (size_t i = 0; i < kOpens; ++i) {
    const Found& one = found[Mix(i) % found.size()];
    if (!S_ISREG(one.status.st_mode)) continue;
    const int fd = ::open((root.folder + one.path).c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) FailWithErrno(one.path, "cannot be opened");
    ::close(fd);
  }
}

}  // namespace

void WalkMetadata(const ImageRoot& root) {
  const std::vector<Found> found = WalkAll(root);
  PrintLine("walked cold");
  WalkAll(root);
  PrintLine("walked hot");
  OpenHereAndThere(root, found);
  PrintLine("opened");

  const std::vector<TreeEntry> tree = ExpectedTree(root);
  std::unordered_map<std::string_view, const TreeEntry*> expected;
  for (const TreeEntry& entry : tree) {
    if (IsBelowATop(entry.path)) expected[entry.path] = &entry;
  }
  for (const Found& one : found) {
    const auto entry = expected.find(one.path);
    if (entry == expected.end()) Fail(one.path, "should not be there");
    Compare(root, one, *entry->second);
  }
  if (found.size() != expected.size()) {
    Fail(root.folder, std::to_string(expected.size() - found.size()) + " entries are missing");
  }
  PrintLine("walked " + std::to_string(found.size()) + " entries, all of them right");
}

}  // namespace soci::bench
