#include "indexer/content/oci_archive.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "indexer/base/file_io.h"
#include "indexer/content/archive_writer.h"
#include "indexer/content/read_blob.h"
#include "indexer/oci/index_edit.h"

namespace soci {
namespace {

constexpr char kIndexName[] = "index.json";
constexpr char kLayoutName[] = "oci-layout";

}  // namespace

OciArchive::OciArchive(std::string path, std::string output, TarMembers members, ArchiveEdits edits,
                       std::string index_json)
    : path_(std::move(path)),
      output_(std::move(output)),
      members_(std::move(members)),
      edits_(std::move(edits)),
      index_json_(std::move(index_json)),
      changed_(!output_.empty()) {}

Result<std::unique_ptr<OciArchive>> OciArchive::Open(const std::string& path, const std::string& output) {
  SOCI_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> file, OpenFileSource(path));
  Result<TarMembers> members = TarMembers::Scan(std::move(file));
  if (!members.ok()) return Annotate(members.status(), path);
  if (members->FindFile(kLayoutName) == nullptr || members->FindFile(kIndexName) == nullptr) {
    return absl::InvalidArgumentError(
        fmt::format("{}: not an OCI archive: it has no files oci-layout and index.json", path));
  }
  Result<std::string> index_json = members->Read(kIndexName, oci::kMaxDocumentBytes);
  if (!index_json.ok()) return Annotate(index_json.status(), path);
  auto archive =
      std::make_unique<OciArchive>(path, output, *std::move(members), ArchiveEdits(), *std::move(index_json));
  SOCI_RETURN_IF_ERROR(archive->ReadIndex().status());
  return archive;
}

Result<std::unique_ptr<ByteSource>> OciArchive::Open(const oci::Digest& digest) {
  {
    MutexLock lock(mutex_);
    if (auto found = new_blobs_.find(digest); found != new_blobs_.end()) return MakeMemorySource(found->second);
  }
  const TarMember* member = members_.FindFile(BlobName(digest));
  if (member == nullptr) return absl::NotFoundError(fmt::format("{}: not in the archive", BlobName(digest)));
  return members_.Open(*member);
}

Status OciArchive::Put(const oci::Descriptor& blob, std::string bytes) {
  if (oci::Digest::Of(bytes) != blob.digest || static_cast<int64_t>(bytes.size()) != blob.size) {
    return absl::InternalError(fmt::format("storing bytes under the foreign name {}", blob.digest.ToString()));
  }
  if (HoldsBlob(*this, blob)) return OkStatus();
  MutexLock lock(mutex_);
  new_blobs_[blob.digest] = std::move(bytes);
  changed_ = true;
  return OkStatus();
}

void OciArchive::Keep(const oci::Digest& digest, std::string bytes) {
  MutexLock lock(mutex_);
  new_blobs_[digest] = std::move(bytes);
}

Status OciArchive::List(const oci::Descriptor& manifest) {
  MutexLock lock(mutex_);
  Result<std::string> after = oci::WithEntry(index_json_, manifest);
  if (!after.ok()) return Annotate(after.status(), Where() + "/index.json");
  changed_ = changed_ || *after != index_json_;
  index_json_ = *std::move(after);
  return OkStatus();
}

Result<std::string> OciArchive::ReadIndexJson() const {
  MutexLock lock(mutex_);
  return index_json_;
}

Status OciArchive::Commit() {
  MutexLock lock(mutex_);
  if (!changed_) return OkStatus();
  struct stat attributes {};
  if (::stat(path_.c_str(), &attributes) != 0) return ErrnoStatus(errno, path_);
  const std::string& target = output_.empty() ? path_ : output_;
  const std::string temporary = fmt::format("{}.part-{}", target, ::getpid());
  auto write = [&]() SOCI_NO_THREAD_SAFETY_ANALYSIS -> Status {
    SOCI_ASSIGN_OR_RETURN(UniqueFd file, OpenFile(temporary, O_WRONLY | O_CREAT | O_EXCL, attributes.st_mode & 0777));
    SOCI_RETURN_IF_ERROR(WriteNew(file.get(), temporary));
    if (::fsync(file.get()) != 0) return ErrnoStatus(errno, temporary);
    if (::rename(temporary.c_str(), target.c_str()) != 0) return ErrnoStatus(errno, target);
    const std::string folder = std::filesystem::path(target).parent_path().string();
    return SyncDirectory(folder.empty() ? "." : folder);
  };
  if (Status status = write(); !status.ok()) {
    ::unlink(temporary.c_str());
    return status;
  }
  changed_ = false;
  return OkStatus();
}

// The old members but those that are written anew, then the new ones.
Status OciArchive::WriteNew(int fd, const std::string& name) const {
  ArchiveWriter out(fd, name);
  SOCI_RETURN_IF_ERROR(CopyOld(out));
  for (const auto& [file, content] : edits_.replaced) SOCI_RETURN_IF_ERROR(out.AppendFile(file, content));
  for (const auto& [digest, bytes] : new_blobs_) SOCI_RETURN_IF_ERROR(out.AppendFile(BlobName(digest), bytes));
  SOCI_RETURN_IF_ERROR(out.AppendFile(kIndexName, index_json_));
  return out.Finish();
}

Status OciArchive::CopyOld(ArchiveWriter& out) const {
  std::set<std::string> gone = edits_.dropped;
  gone.insert(kIndexName);
  for (const auto& [name, content] : edits_.replaced) gone.insert(name);
  for (const auto& [digest, bytes] : new_blobs_) gone.insert(BlobName(digest));
  for (const TarMember& member : members_.all()) {
    if (gone.contains(member.name)) continue;
    const auto renamed = edits_.renamed.find(member.name);
    if (renamed == edits_.renamed.end()) {
      SOCI_RETURN_IF_ERROR(out.Copy(members_.file(), member.begin, member.end));
    } else if (gone.insert(renamed->second).second) {  // one blob may have had several names
      SOCI_RETURN_IF_ERROR(out.AppendFile(renamed->second, members_.file(), member.data, member.size));
    }
  }
  return OkStatus();
}

}  // namespace soci
