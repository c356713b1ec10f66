#include "fuse/session/attributes.h"

#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>

namespace soci {

struct stat StatOf(InodeId inode, const InodeAttributes& attributes) {
  struct stat out {};
  out.st_ino = ToNumber(inode);
  out.st_mode = attributes.mode;
  out.st_nlink = attributes.link_count;
  out.st_uid = attributes.uid;
  out.st_gid = attributes.gid;
  out.st_rdev = makedev(attributes.device_major, attributes.device_minor);
  out.st_size = static_cast<off_t>(attributes.size);
  out.st_blksize = 4096;
  // Always units of 512, whatever st_blksize is; too few of them make cp take a file for a sparse one. A link target
  // lies in its inode.
  if (!S_ISLNK(attributes.mode))
    out.st_blocks = static_cast<blkcnt_t>(attributes.size / 512 + (attributes.size % 512 != 0));
  out.st_mtim = {attributes.mtime_seconds, static_cast<long>(attributes.mtime_nanoseconds)};
  out.st_atim = out.st_mtim;
  out.st_ctim = out.st_mtim;
  return out;
}

Result<off_t> SeekInData(off_t offset, int whence, uint64_t size) {
  if (whence != SEEK_DATA && whence != SEEK_HOLE) return ErrnoStatus(EINVAL, "lseek");
  if (offset < 0 || static_cast<uint64_t>(offset) >= size) return ErrnoStatus(ENXIO, "lseek");
  return whence == SEEK_DATA ? offset : static_cast<off_t>(size);
}

}  // namespace soci
