#include "snapshotter/overlay/disk_usage.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <unordered_set>
#include <vector>

#include "indexer/base/file_io.h"

namespace soci {
namespace {

UniqueFd OpenBeneath(int root, const std::string& path) {
  struct open_how how {};
  how.flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV;
  return UniqueFd(static_cast<int>(::syscall(SYS_openat2, root, path.c_str(), &how, sizeof how)));
}

class Walk {
 public:
  explicit Walk(const std::string& folder) : folder_(folder) {}

  Result<SnapshotUsage> Run() {
    SOCI_ASSIGN_OR_RETURN(UniqueFd root, OpenFile(folder_, O_RDONLY | O_DIRECTORY));
    struct stat attributes {};
    if (::fstat(root.get(), &attributes) != 0) return ErrnoStatus(errno, folder_);
    Count(attributes);
    for (waiting_.emplace_back("."); !waiting_.empty();) {
      const std::string path = std::move(waiting_.back());
      waiting_.pop_back();
      UniqueFd opened = OpenBeneath(root.get(), path);
      if (opened) {
        List(std::move(opened), path);
      } else if (errno != ENOENT && errno != ENOTDIR && errno != ELOOP && errno != EXDEV && errno != ENAMETOOLONG) {
        return ErrnoStatus(errno, folder_ + "/" + path);
      }
    }
    return usage_;
  }

 private:
  void Count(const struct stat& attributes) {
    if (!S_ISDIR(attributes.st_mode) && attributes.st_nlink > 1 && !linked_.insert(attributes.st_ino).second) return;
    ++usage_.inodes;
    usage_.bytes += static_cast<uint64_t>(attributes.st_blocks) * 512;
  }

  void List(UniqueFd opened, const std::string& path) {
    std::unique_ptr<DIR, int (*)(DIR*)> listing(::fdopendir(opened.get()), ::closedir);
    if (!listing) return;
    const int folder = opened.Release();
    while (const dirent* entry = ::readdir(listing.get())) {
      const std::string_view name = entry->d_name;
      if (name == "." || name == "..") continue;
      struct stat attributes {};
      if (::fstatat(folder, entry->d_name, &attributes, AT_SYMLINK_NOFOLLOW) != 0) continue;  // gone meanwhile
      Count(attributes);
      if (S_ISDIR(attributes.st_mode)) waiting_.push_back(path + "/" + std::string(name));
    }
  }

  const std::string& folder_;
  SnapshotUsage usage_;
  std::unordered_set<ino_t> linked_;  // of files with several names; all on one device, as no mount is crossed
  std::vector<std::string> waiting_;
};

}  // namespace

Result<SnapshotUsage> DiskUsage(const std::string& folder) { return Walk(folder).Run(); }

}  // namespace soci
