#include "indexer/content/oci_layout.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <cerrno>

#include "indexer/base/file_io.h"
#include "indexer/content/read_blob.h"
#include "indexer/oci/annotations.h"
#include "indexer/oci/index_edit.h"

namespace soci {
namespace {

constexpr std::string_view kLayoutFile = R"({"imageLayoutVersion":"1.0.0"})";

}  // namespace

Result<std::unique_ptr<OciLayout>> OciLayout::Open(const std::string& directory) {
  SOCI_ASSIGN_OR_RETURN(UniqueFd opened, OpenFile(directory, O_RDONLY | O_DIRECTORY));
  std::unique_ptr<OciLayout> layout(new OciLayout(directory));
  Result<std::string> marker = ReadFile(directory + "/oci-layout", oci::kMaxDocumentBytes);
  if (absl::IsNotFound(marker.status())) {
    return absl::InvalidArgumentError(fmt::format("{} is not an OCI layout: it has no file oci-layout", directory));
  }
  SOCI_RETURN_IF_ERROR(marker.status());
  SOCI_RETURN_IF_ERROR(layout->ReadIndex().status());
  return layout;
}

Result<std::unique_ptr<OciLayout>> OciLayout::OpenOrCreate(const std::string& directory) {
  const std::string blobs = directory + "/blobs/sha256", index = directory + "/index.json";
  SOCI_RETURN_IF_ERROR(MakeDirectories(blobs));
  if (absl::IsNotFound(OpenFile(index, O_RDONLY).status())) {
    oci::ImageIndex empty{.media_type = std::string(oci::kMediaTypeImageIndex)};
    SOCI_RETURN_IF_ERROR(WriteFileAtomic(index, empty.ToJson()));
  }
  if (absl::IsNotFound(OpenFile(directory + "/oci-layout", O_RDONLY).status())) {
    SOCI_RETURN_IF_ERROR(WriteFileAtomic(directory + "/oci-layout", kLayoutFile));
  }
  return Open(directory);
}

Result<std::unique_ptr<ByteSource>> OciLayout::Open(const oci::Digest& digest) {
  return OpenFileSource(BlobPath(digest));
}

Status OciLayout::Put(const oci::Descriptor& blob, std::string bytes) {
  if (oci::Digest::Of(bytes) != blob.digest || static_cast<int64_t>(bytes.size()) != blob.size) {
    return absl::InternalError(fmt::format("storing bytes under the foreign name {}", blob.digest.ToString()));
  }
  // What is there is trusted only if it is right: a copy may have been cut short.
  if (HoldsBlob(*this, blob)) return OkStatus();
  SOCI_RETURN_IF_ERROR(MakeDirectories(directory_ + "/blobs/sha256"));
  return WriteFileAtomic(BlobPath(blob.digest), bytes);
}

Status OciLayout::List(const oci::Descriptor& manifest) {
  SOCI_ASSIGN_OR_RETURN(UniqueFd lock, OpenFile(directory_, O_RDONLY | O_DIRECTORY));
  while (::flock(lock.get(), LOCK_EX) != 0) {
    if (errno != EINTR) return ErrnoStatus(errno, "locking " + directory_);
  }
  SOCI_ASSIGN_OR_RETURN(std::string before, ReadFile(IndexPath(), oci::kMaxDocumentBytes));
  Result<std::string> after = oci::WithEntry(before, manifest);
  if (!after.ok()) return Annotate(after.status(), IndexPath());
  return *after == before ? OkStatus() : WriteFileAtomic(IndexPath(), *after);
}

std::string OciLayout::BlobPath(const oci::Digest& digest) const {
  return directory_ + "/blobs/sha256/" + digest.Hex();
}

Result<std::string> OciLayout::ReadIndexJson() const { return ReadFile(IndexPath(), oci::kMaxDocumentBytes); }

}  // namespace soci
