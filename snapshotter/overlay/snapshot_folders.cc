#include "snapshotter/overlay/snapshot_folders.h"

#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <memory>

#include "indexer/base/file_io.h"

namespace soci {
namespace {

constexpr std::string_view kGone = "gone-";

// mkdir, and the mode exactly, whatever the umask is.
Status MakeFolder(const std::string& path, mode_t mode) {
  if (::mkdir(path.c_str(), mode) != 0 || ::chmod(path.c_str(), mode) != 0) return ErrnoStatus(errno, path);
  return OkStatus();
}

Status MakeParts(const std::string& whole, const SnapshotFolder& parts, SnapshotKind kind,
                 std::optional<SnapshotFolders::Owner> owner) {
  SOCI_RETURN_IF_ERROR(MakeFolder(whole, 0700));
  SOCI_RETURN_IF_ERROR(MakeFolder(parts.fs, 0755));
  if (kind == SnapshotKind::kActive) SOCI_RETURN_IF_ERROR(MakeFolder(parts.work, 0711));
  if (owner && ::lchown(parts.fs.c_str(), owner->user, owner->group) != 0) return ErrnoStatus(errno, parts.fs);
  return OkStatus();
}

}  // namespace

SnapshotFolder SnapshotFolders::Of(int64_t id) const {
  return {fmt::format("{}/{}/fs", folder_, id), fmt::format("{}/{}/work", folder_, id)};
}

Status SnapshotFolders::Make(int64_t id, SnapshotKind kind, std::optional<Owner> owner) {
  SOCI_RETURN_IF_ERROR(MakeDirectories(folder_, 0700));
  const std::string whole = fmt::format("{}/{}", folder_, id);
  // An id is never used twice, so what lies here was left by a database that is gone.
  SOCI_RETURN_IF_ERROR(RemoveTree(whole));
  Status status = MakeParts(whole, Of(id), kind, owner);
  if (!status.ok()) (void)RemoveTree(whole);
  return status;
}

Result<std::string> SnapshotFolders::MoveAway(int64_t id) {
  const std::string name = fmt::format("{}{}", kGone, id);
  const std::string from = fmt::format("{}/{}", folder_, id);
  if (::rename(from.c_str(), fmt::format("{}/{}", folder_, name).c_str()) != 0 && errno != ENOENT) {
    return ErrnoStatus(errno, from);
  }
  return name;
}

Result<std::vector<std::string>> SnapshotFolders::Names() const {
  std::unique_ptr<DIR, int (*)(DIR*)> listing(::opendir(folder_.c_str()), ::closedir);
  std::vector<std::string> names;
  if (!listing) {
    if (errno == ENOENT) return names;
    return ErrnoStatus(errno, folder_);
  }
  while (const dirent* entry = ::readdir(listing.get())) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  return names;
}

Status SnapshotFolders::Delete(const std::string& name, const std::stop_token& stop) {
  return RemoveTree(folder_ + "/" + name, stop);
}

std::optional<int64_t> SnapshotFolders::IdOf(const std::string& name) {
  int64_t id = 0;
  const char* end = name.data() + name.size();
  const auto [rest, error] = std::from_chars(name.data(), end, id);
  if (error != std::errc() || rest != end) return std::nullopt;
  return id;
}

Result<SnapshotFolders::Owner> SnapshotFolders::OwnerOf(const std::string& path) {
  struct stat attributes {};
  if (::stat(path.c_str(), &attributes) != 0) return ErrnoStatus(errno, path);
  return Owner{attributes.st_uid, attributes.st_gid};
}

}  // namespace soci
