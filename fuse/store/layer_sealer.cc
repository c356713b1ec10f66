#include "fuse/store/layer_sealer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>

#include <cerrno>

#include "indexer/base/file_io.h"
#include "indexer/base/log.h"

namespace soci {

LayerSealer::LayerSealer(const LayerFolder& folder, const LayerTable& table, const std::function<void()>& before_step)
    : folder_(folder), table_(table), before_step_(before_step) {}

void LayerSealer::Step() const {
  if (before_step_) before_step_();
}

Status LayerSealer::MadeOrThere(int done, const std::string& path, uint32_t type) const {
  if (done == 0) return OkStatus();
  const int error = errno;
  struct stat there {};
  if (error == EEXIST && ::fstatat(root_.get(), path.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0 &&
      (there.st_mode & S_IFMT) == type) {
    return OkStatus();
  }
  return ErrnoStatus(error, path);
}

Status LayerSealer::Build(const std::stop_token& stop) {
  Step();
  if (::mkdir(folder_.sealing().c_str(), 0700) != 0 && errno != EEXIST) return ErrnoStatus(errno, folder_.sealing());
  SOCI_ASSIGN_OR_RETURN(root_, OpenFile(folder_.sealing(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  placed_.assign(table_.inode_count() + 1, false);
  // Numbers are breadth first: a folder is made before anything is put into it.
  for (uint64_t number = 1; number <= table_.inode_count(); ++number) {
    const uint64_t count = table_.ChildCount(InodeId{number});
    if (count == 0) continue;
    const std::string path = folder_.PathInLayer(InodeId{number});
    for (uint64_t rank = 0; rank < count; ++rank) {
      if (stop.stop_requested()) return absl::CancelledError("it was stopped");
      SOCI_RETURN_IF_ERROR(MakeChild(InodeId{number}, path, rank));
    }
  }
  // Only now, as making things in a folder changes its time, and modes may forbid it.
  for (uint64_t number = table_.inode_count(); number > 0; --number) {
    const InodeAttributes attributes = *table_.Attributes(InodeId{number});
    if (!S_ISDIR(attributes.mode)) continue;
    SOCI_RETURN_IF_ERROR(SetAttributes(InodeId{number}, attributes, folder_.PathInLayer(InodeId{number})));
  }
  Step();
  if (::rename(folder_.sealing().c_str(), folder_.sealed().c_str()) != 0) return ErrnoStatus(errno, folder_.sealed());
  return OkStatus();
}

Status LayerSealer::MakeChild(InodeId folder, const std::string& folder_path, uint64_t rank) {
  const DirectoryChild child = table_.Child(folder, rank);
  const std::string path = (folder_path == "." ? "" : folder_path + "/") + std::string(child.name);
  if (placed_[ToNumber(child.inode)]) return MakeHardLink(child.inode, path);
  const InodeAttributes attributes = *table_.Attributes(child.inode);
  SOCI_RETURN_IF_ERROR(MakeFirstName(child.inode, attributes, path));
  placed_[ToNumber(child.inode)] = true;
  return S_ISDIR(attributes.mode) ? OkStatus() : SetAttributes(child.inode, attributes, path);
}

Status LayerSealer::MakeFirstName(InodeId inode, const InodeAttributes& attributes, const std::string& path) {
  const uint32_t type = attributes.mode & S_IFMT;
  Step();
  switch (type) {
    case S_IFDIR:
      return MadeOrThere(::mkdirat(root_.get(), path.c_str(), 0700), path, type);
    case S_IFLNK:
      return MadeOrThere(::symlinkat(std::string(table_.LinkTarget(inode)).c_str(), root_.get(), path.c_str()), path,
                         type);
    case S_IFREG:
      return MoveFile(inode, attributes, path);
    default:
      return MadeOrThere(::mknodat(root_.get(), path.c_str(), type | 0600,
                                   ::makedev(attributes.device_major, attributes.device_minor)),
                         path, type);
  }
}

Status LayerSealer::MoveFile(InodeId, const InodeAttributes& attributes, const std::string& path) {
  if (attributes.size == 0) {
    const UniqueFd made(::openat(root_.get(), path.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
    return made ? OkStatus() : ErrnoStatus(errno, path);
  }
  const std::string backing = folder_.BackingFile(attributes.content.begin);
  if (::renameat(AT_FDCWD, backing.c_str(), root_.get(), path.c_str()) == 0) return OkStatus();
  const int error = errno;
  struct stat there {};
  if (error == ENOENT && ::fstatat(root_.get(), path.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0 &&
      S_ISREG(there.st_mode) && static_cast<uint64_t>(there.st_size) == attributes.size) {
    return OkStatus();
  }
  return ErrnoStatus(error, backing);
}

Status LayerSealer::MakeHardLink(InodeId inode, const std::string& path) {
  const std::string first = folder_.PathInLayer(inode);
  Step();
  if (::linkat(root_.get(), first.c_str(), root_.get(), path.c_str(), 0) == 0) return OkStatus();
  const int error = errno;
  struct stat one {
  }, other{};
  if (error == EEXIST && ::fstatat(root_.get(), first.c_str(), &one, AT_SYMLINK_NOFOLLOW) == 0 &&
      ::fstatat(root_.get(), path.c_str(), &other, AT_SYMLINK_NOFOLLOW) == 0 && one.st_ino == other.st_ino) {
    return OkStatus();
  }
  return ErrnoStatus(error, path);
}

// Only what is not so already: whoever wrote a file may have known it. chown takes setuid and file capabilities away,
// so it comes first; an xattr may be an access list, which changes the mode; times come last.
Status LayerSealer::SetAttributes(InodeId inode, const InodeAttributes& attributes, const std::string& path) {
  Step();
  struct stat now {};
  if (::fstatat(root_.get(), path.c_str(), &now, AT_SYMLINK_NOFOLLOW) != 0) return ErrnoStatus(errno, path);
  const bool owned = now.st_uid == attributes.uid && now.st_gid == attributes.gid;
  if (!owned && ::fchownat(root_.get(), path.c_str(), attributes.uid, attributes.gid, AT_SYMLINK_NOFOLLOW) != 0) {
    return ErrnoStatus(errno, path);
  }
  SOCI_RETURN_IF_ERROR(SetXattrs(inode, path));
  const uint32_t mode = attributes.mode & 07777;
  const bool moded = owned && (now.st_mode & 07777) == mode && table_.XattrCount(inode) == 0;
  if (!moded && !S_ISLNK(attributes.mode) && ::fchmodat(root_.get(), path.c_str(), mode, 0) != 0) {
    return ErrnoStatus(errno, path);
  }
  const timespec modified{attributes.mtime_seconds, attributes.mtime_nanoseconds};
  const auto is = [&](const timespec& time) {
    return time.tv_sec == modified.tv_sec && time.tv_nsec == modified.tv_nsec;
  };
  if (is(now.st_mtim) && is(now.st_atim)) return OkStatus();
  const timespec both[2] = {modified, modified};
  return ::utimensat(root_.get(), path.c_str(), both, AT_SYMLINK_NOFOLLOW) == 0 ? OkStatus() : ErrnoStatus(errno, path);
}

Status LayerSealer::SetXattrs(InodeId inode, const std::string& path) {
  const uint64_t count = table_.XattrCount(inode);
  if (count == 0) return OkStatus();
  // There is no lsetxattrat; the descriptor's own link takes its place.
  const std::string by_descriptor = fmt::format("/proc/self/fd/{}/{}", root_.get(), path);
  for (uint64_t i = 0; i < count; ++i) {
    const Xattr xattr = table_.XattrAt(inode, i);
    const std::string name(xattr.name);
    if (::lsetxattr(by_descriptor.c_str(), name.c_str(), xattr.value.data(), xattr.value.size(), 0) == 0) continue;
    // As containerd's unpacker: a family that the file system does not know is left out. What overlayfs needs is not.
    if (errno == ENOTSUP && name != "trusted.overlay.opaque") {
      log::Debug("{}: this file system has no xattr {}", path, name);
      continue;
    }
    return ErrnoStatus(errno, fmt::format("{}: xattr {}", path, name));
  }
  return OkStatus();
}

Status RemoveWhatSealingLeaves(const LayerFolder& folder) {
  SOCI_RETURN_IF_ERROR(RemoveTree(folder.presence()));
  SOCI_RETURN_IF_ERROR(RemoveTree(folder.data()));
  return RemoveTree(folder.residue());
}

}  // namespace soci
