#include "snapshotter/unpack/unsynced_mark.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "indexer/base/bytes.h"
#include "indexer/base/file_io.h"

namespace soci {
namespace {

std::string MarkOf(const std::string& layer_folder) { return layer_folder + "/unsynced"; }

}  // namespace

Status MarkUnsynced(const std::string& layer_folder, const BootId& boot) {
  return WriteFileAtomic(MarkOf(layer_folder), AsText(boot), 0600);
}

UnsyncedMark ReadUnsyncedMark(const std::string& layer_folder, const BootId& boot) {
  const auto mark = ReadFile(MarkOf(layer_folder), boot.size());
  if (absl::IsNotFound(mark.status())) return UnsyncedMark::kNone;
  return mark.ok() && *mark == AsText(boot) ? UnsyncedMark::kOfThisBoot : UnsyncedMark::kOfAnotherBoot;
}

Status SyncAndUnmark(const std::string& layer_folder) {
  SOCI_ASSIGN_OR_RETURN(const UniqueFd folder, OpenFile(layer_folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  if (::syncfs(folder.get()) != 0) return ErrnoStatus(errno, layer_folder);
  if (::unlinkat(folder.get(), "unsynced", 0) != 0 && errno != ENOENT) return ErrnoStatus(errno, MarkOf(layer_folder));
  return OkStatus();
}

}  // namespace soci
