#include "snapshotter/overlay/short_links.h"

#include <fmt/format.h>
#include <limits.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "indexer/base/file_io.h"
#include "snapshotter/overlay/snapshot_folders.h"

namespace soci {

Result<std::string> ShortLinks::To(int64_t id, const std::string& target) {
  static std::atomic<uint64_t> counter{0};
  const std::string link = fmt::format("{}/{}", folder_, id);
  char present[PATH_MAX];
  const ssize_t length = ::readlink(link.c_str(), present, sizeof present);
  if (length >= 0 && std::string_view(present, static_cast<size_t>(length)) == target) return link;

  SOCI_RETURN_IF_ERROR(MakeDirectories(folder_, 0700));
  const std::string temporary = fmt::format("{}/new-{}-{}", folder_, ::getpid(), counter++);
  ::unlink(temporary.c_str());
  if (::symlink(target.c_str(), temporary.c_str()) != 0) return ErrnoStatus(errno, temporary);
  if (::rename(temporary.c_str(), link.c_str()) != 0) {
    const int error = errno;
    ::unlink(temporary.c_str());
    return ErrnoStatus(error, link);
  }
  return link;
}

void ShortLinks::Keep(const std::set<int64_t>& ids) {
  Result<std::vector<std::string>> names = SnapshotFolders(folder_).Names();
  if (!names.ok()) return;
  for (const std::string& name : *names) {
    const std::optional<int64_t> id = SnapshotFolders::IdOf(name);
    if (id && ids.count(*id) == 0) ::unlink((folder_ + "/" + name).c_str());
  }
}

}  // namespace soci
