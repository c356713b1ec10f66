#include "snapshotter/unpack/backing_writer.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "indexer/base/file_io.h"
#include "indexer/table/layer_path.h"
#include "indexer/tar/sparse.h"

namespace soci {
namespace {

std::string Join(const std::vector<std::string_view>& path, size_t count) {
  std::string joined;
  for (size_t i = 0; i < count; ++i) {
    if (i > 0) joined += '/';
    joined += path[i];
  }
  return joined;
}

}  // namespace

Status BackingWriter::CheckParent(const tar::Entry& member) {
  SOCI_ASSIGN_OR_RETURN(const std::vector<std::string_view> path, table::CleanPath(member.name));
  if (path.size() > 1 && known_.count(Join(path, path.size() - 1)) == 0) {
    return absl::UnimplementedError(
        fmt::format("\"{}\" is in a folder that only a layer below can describe", member.name));
  }
  if (member.type == tar::EntryType::kDirectory || member.type == tar::EntryType::kSymlink) {
    known_.insert(Join(path, path.size()));
  }
  return OkStatus();
}

Status BackingWriter::OnMember(const tar::Entry& member) {
  if (tar::SparseFormatOf(member.pax) != tar::SparseFormat::kNone) {
    return absl::UnimplementedError(fmt::format("\"{}\" is a sparse file", member.name));
  }
  if (!lowest_) SOCI_RETURN_IF_ERROR(CheckParent(member));
  if (member.content.empty()) return OkStatus();
  File file;
  file.content = member.content;
  file.uid = static_cast<uint32_t>(member.uid);
  file.gid = static_cast<uint32_t>(member.gid);
  file.mode = static_cast<uint32_t>(member.mode) & 07777;
  file.modified = {member.mtime_seconds, member.mtime_nanoseconds};
  unfinished_.push_back(file);
  return OkStatus();
}

// Whatever fails, or is not what the table will say: sealing puts it right.
void BackingWriter::SetAttributes(const File& file) const {
  const bool ours = file.uid == ::geteuid() && file.gid == ::getegid();
  if (!ours && ::fchown(file_.get(), file.uid, file.gid) != 0) return;
  const timespec both[2] = {file.modified, file.modified};
  if (::fchmod(file_.get(), file.mode) == 0) ::futimens(file_.get(), both);
}

Status BackingWriter::OnTar(uint64_t position, ByteSpan bytes) {
  const UncompressedRange here{position, position + bytes.size()};
  while (!unfinished_.empty()) {
    const UncompressedRange whole = unfinished_.front().content;
    const UncompressedRange part = whole.Intersect(here);
    if (part.empty()) break;
    if (!file_) {
      SOCI_ASSIGN_OR_RETURN(file_, folder_.OpenForWriting(InodeId{0}, whole, true));
    }
    SOCI_RETURN_IF_ERROR(WriteFullAt(file_.get(), part.begin - whole.begin,
                                     bytes.subspan(part.begin - position, part.size()), "a file of the layer"));
    if (part.end < whole.end) break;
    SetAttributes(unfinished_.front());
    file_.Reset();
    unfinished_.pop_front();
  }
  return OkStatus();
}

}  // namespace soci
