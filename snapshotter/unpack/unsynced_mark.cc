#include "snapshotter/unpack/unsynced_mark.h"

#include <unistd.h>

#include <cerrno>

#include "indexer/base/bytes.h"
#include "indexer/base/file_io.h"

namespace soci {
namespace {

std::string MarkOf(const std::string& layer_folder) { return layer_folder + "/unsynced"; }

}  // namespace

Status MarkUnsynced(const std::string& layer_folder, const BootId& boot) {
  return ReplaceFile(MarkOf(layer_folder), AsText(boot), 0600);
}

UnsyncedMark ReadUnsyncedMark(const std::string& layer_folder, const BootId& boot) {
  const auto mark = ReadFile(MarkOf(layer_folder), boot.size());
  if (absl::IsNotFound(mark.status())) return UnsyncedMark::kNone;
  return mark.ok() && *mark == AsText(boot) ? UnsyncedMark::kOfThisBoot : UnsyncedMark::kOfAnotherBoot;
}

Status UnmarkSynced(const std::string& layer_folder) {
  const std::string mark = MarkOf(layer_folder);
  return ::unlink(mark.c_str()) == 0 || errno == ENOENT ? OkStatus() : ErrnoStatus(errno, mark);
}

}  // namespace soci
