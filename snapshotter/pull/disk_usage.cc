#include "snapshotter/pull/disk_usage.h"

#include <fts.h>
#include <sys/stat.h>

#include <cerrno>
#include <memory>
#include <set>

namespace soci {

Result<LayerUsage> DiskUsage(const std::string& folder) {
  std::string path = folder;
  char* paths[] = {path.data(), nullptr};
  const std::unique_ptr<FTS, int (*)(FTS*)> walk(::fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, nullptr),
                                                 ::fts_close);
  if (walk == nullptr) return ErrnoStatus(errno, "walking " + folder);
  LayerUsage usage;
  std::set<ino_t> linked;
  while (FTSENT* entry = ::fts_read(walk.get())) {
    if (entry->fts_info == FTS_DP || entry->fts_info == FTS_NS || entry->fts_info == FTS_ERR) continue;
    const struct stat& attributes = *entry->fts_statp;
    if (!S_ISDIR(attributes.st_mode) && attributes.st_nlink > 1 && !linked.insert(attributes.st_ino).second) continue;
    usage.bytes += static_cast<uint64_t>(attributes.st_blocks) * 512;
    ++usage.inodes;
  }
  return usage;
}

}  // namespace soci
