#include "tests/layers/tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "indexer/base/unique_fd.h"

namespace soci::test {
namespace {

[[noreturn]] void Fail(const std::string& path, std::string_view what) {
  throw std::runtime_error(fmt::format("{}: {}: {}", path, what, std::strerror(errno)));
}

std::map<std::string, std::string> Xattrs(const std::string& path) {
  std::vector<char> names(65536);
  const ssize_t size = ::llistxattr(path.c_str(), names.data(), names.size());
  if (size < 0 && errno == ENOTSUP) return {};
  if (size < 0) Fail(path, "llistxattr");
  std::map<std::string, std::string> xattrs;
  for (const char* name = names.data(); name < names.data() + size; name += std::strlen(name) + 1) {
    std::vector<char> value(65536);
    const ssize_t length = ::lgetxattr(path.c_str(), name, value.data(), value.size());
    if (length < 0) Fail(path, name);
    xattrs[name] = std::string(value.data(), static_cast<size_t>(length));
  }
  return xattrs;
}

oci::Digest HashFile(const std::string& path, uint64_t size) {
  UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file) Fail(path, "open");
  oci::Hasher hasher;
  std::vector<std::byte> piece(1 << 17);
  uint64_t total = 0;
  for (;;) {
    const ssize_t count = ::read(file.get(), piece.data(), piece.size());
    if (count < 0) Fail(path, "read");
    if (count == 0) break;
    total += static_cast<uint64_t>(count);
    hasher.Update(ByteSpan(piece.data(), static_cast<size_t>(count)));
  }
  if (total != size) throw std::runtime_error(fmt::format("{}: {} bytes could be read of {}", path, total, size));
  return hasher.Finish();
}

TreeEntry EntryOf(const std::string& path, const struct stat& attributes) {
  TreeEntry entry;
  entry.mode = attributes.st_mode;
  entry.uid = attributes.st_uid;
  entry.gid = attributes.st_gid;
  entry.mtime_seconds = attributes.st_mtim.tv_sec;
  entry.mtime_nanoseconds = static_cast<uint32_t>(attributes.st_mtim.tv_nsec);
  entry.xattrs = Xattrs(path);
  if (S_ISREG(entry.mode)) {
    entry.size = static_cast<uint64_t>(attributes.st_size);
    entry.content = HashFile(path, entry.size);
  } else if (S_ISLNK(entry.mode)) {
    entry.size = static_cast<uint64_t>(attributes.st_size);
    std::vector<char> target(8192);
    const ssize_t length = ::readlink(path.c_str(), target.data(), target.size());
    if (length < 0) Fail(path, "readlink");
    entry.link_target.assign(target.data(), static_cast<size_t>(length));
  } else if (S_ISCHR(entry.mode) || S_ISBLK(entry.mode)) {
    entry.device_major = major(attributes.st_rdev);
    entry.device_minor = minor(attributes.st_rdev);
  }
  return entry;
}

using Groups = std::map<uint64_t, std::vector<std::string>>;  // paths by inode number

void Walk(const std::string& root, const std::string& path, Tree& tree, Groups& groups) {
  const std::string full = path.empty() ? root : root + "/" + path;
  struct stat attributes {};
  if (::lstat(full.c_str(), &attributes) != 0) Fail(full, "lstat");
  tree[path] = EntryOf(full, attributes);
  if (!S_ISDIR(attributes.st_mode)) {
    groups[attributes.st_ino].push_back(path);
    return;
  }
  DIR* folder = ::opendir(full.c_str());
  if (folder == nullptr) Fail(full, "opendir");
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* child = ::readdir(folder)) {
    const std::string name = child->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  const int error = errno;
  ::closedir(folder);
  errno = error;
  if (error != 0) Fail(full, "readdir");
  for (const std::string& name : names) Walk(root, path.empty() ? name : path + "/" + name, tree, groups);
}

void SetGroups(Groups& groups, Tree& tree) {
  for (auto& [inode, paths] : groups) {
    if (paths.size() < 2) continue;
    std::sort(paths.begin(), paths.end());
    for (const std::string& path : paths) tree[path].hard_link_group = paths.front();
  }
}

void WalkTableFrom(const LayerTable& table, std::string_view tar, InodeId inode, const std::string& path, Tree& tree,
                   Groups& groups) {
  const InodeAttributes attributes = *table.Attributes(inode);
  TreeEntry& entry = tree[path];
  entry.mode = attributes.mode;
  entry.uid = attributes.uid;
  entry.gid = attributes.gid;
  entry.mtime_seconds = attributes.mtime_seconds;
  entry.mtime_nanoseconds = attributes.mtime_nanoseconds;
  entry.device_major = attributes.device_major;
  entry.device_minor = attributes.device_minor;
  entry.link_target = table.LinkTarget(inode);
  if (S_ISREG(entry.mode)) entry.content = oci::Digest::Of(tar.substr(attributes.content.begin, attributes.size));
  if (!S_ISDIR(entry.mode)) entry.size = attributes.size;
  for (uint64_t i = 0; i < table.XattrCount(inode); ++i) {
    const Xattr xattr = table.XattrAt(inode, i);
    entry.xattrs[std::string(xattr.name)] = xattr.value;
  }
  if (!S_ISDIR(entry.mode)) groups[ToNumber(inode)].push_back(path);
  for (uint64_t rank = 0; rank < table.ChildCount(inode); ++rank) {
    const DirectoryChild child = table.Child(inode, rank);
    const std::string name(child.name);
    WalkTableFrom(table, tar, child.inode, path.empty() ? name : path + "/" + name, tree, groups);
  }
}

std::string Shown(std::string_view bytes) {
  std::string text;
  for (const char c : bytes.substr(0, 60)) {
    const auto byte = static_cast<unsigned char>(c);
    text += byte < 0x20 || byte > 0x7e ? fmt::format("\\x{:02x}", byte) : std::string(1, c);
  }
  return text;
}

std::string Shown(const std::map<std::string, std::string>& xattrs) {
  std::string text;
  for (const auto& [name, value] : xattrs) text += fmt::format("{}={} ", Shown(name), Shown(value));
  return text;
}

}  // namespace

Tree WalkDirectory(const std::string& root) {
  Tree tree;
  Groups groups;
  Walk(root, "", tree, groups);
  SetGroups(groups, tree);
  return tree;
}

Tree WalkTable(const LayerTable& table, std::string_view tar) {
  Tree tree;
  Groups groups;
  WalkTableFrom(table, tar, InodeId::kRoot, "", tree, groups);
  SetGroups(groups, tree);
  return tree;
}

std::string Differences(const Tree& expected, const Tree& found, size_t most) {
  std::vector<std::string> lines;
  const auto add = [&](const std::string& path, std::string_view what, const auto& want, const auto& have) {
    if (want == have) return;
    lines.push_back(
        fmt::format("{}: {}: expected {}, found {}", path.empty() ? "(root)" : Shown(path), what, want, have));
  };
  for (const auto& [path, want] : expected) {
    const auto other = found.find(path);
    if (other == found.end()) {
      lines.push_back(fmt::format("{}: missing (mode {:o})", Shown(path), want.mode));
      continue;
    }
    const TreeEntry& have = other->second;
    add(path, "mode", fmt::format("{:o}", want.mode), fmt::format("{:o}", have.mode));
    add(path, "owner", fmt::format("{}:{}", want.uid, want.gid), fmt::format("{}:{}", have.uid, have.gid));
    add(path, "size", want.size, have.size);
    add(path, "mtime", fmt::format("{}.{:09}", want.mtime_seconds, want.mtime_nanoseconds),
        fmt::format("{}.{:09}", have.mtime_seconds, have.mtime_nanoseconds));
    add(path, "link target", Shown(want.link_target), Shown(have.link_target));
    add(path, "device", fmt::format("{}:{}", want.device_major, want.device_minor),
        fmt::format("{}:{}", have.device_major, have.device_minor));
    add(path, "xattrs", Shown(want.xattrs), Shown(have.xattrs));
    if (want.xattrs != have.xattrs) lines.push_back(fmt::format("{}: xattrs differ", Shown(path)));
    add(path, "hard links", Shown(want.hard_link_group), Shown(have.hard_link_group));
    add(path, "content", want.content.Hex(), have.content.Hex());
  }
  for (const auto& [path, have] : found) {
    if (expected.count(path) == 0) lines.push_back(fmt::format("{}: not expected (mode {:o})", Shown(path), have.mode));
  }
  std::string text;
  for (size_t i = 0; i < lines.size() && i < most; ++i) text += lines[i] + "\n";
  if (lines.size() > most) text += fmt::format("and {} more\n", lines.size() - most);
  return text;
}

void ForgetTimes(Tree& tree, const std::set<std::string>& paths) {
  for (auto& [path, entry] : tree) {
    const bool whiteout = S_ISCHR(entry.mode) && entry.device_major == 0 && entry.device_minor == 0;
    if (whiteout || paths.count(path) != 0) entry.mtime_seconds = entry.mtime_nanoseconds = 0;
  }
}

}  // namespace soci::test
