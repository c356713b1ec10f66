#include "indexer/content/oci_store.h"

#include <fmt/format.h>

#include "indexer/content/read_blob.h"
#include "indexer/oci/annotations.h"
#include "indexer/oci/platform.h"

namespace soci {
namespace {

bool IsImage(const oci::Descriptor& entry) {
  if (entry.media_type == oci::kMediaTypeImageIndex || entry.media_type == oci::kMediaTypeDockerManifestList) {
    return entry.artifact_type.empty();
  }
  return oci::IsImageEntry(entry);
}

// "app:1" stands for "docker.io/library/app:1" too.
bool HasName(const oci::Descriptor& entry, const std::string& name) {
  for (std::string_view key : {oci::kAnnotationRefName, oci::kAnnotationContainerdName}) {
    const auto annotation = entry.annotations.find(std::string(key));
    if (annotation != entry.annotations.end() && annotation->second == name) return true;
    if (annotation != entry.annotations.end() && annotation->second.ends_with("/" + name)) return true;
  }
  return false;
}

// The type by which a referrer is asked for: its own, else that of its config.
std::string ArtifactType(const oci::Manifest& manifest) {
  return manifest.artifact_type.empty() ? manifest.config.media_type : manifest.artifact_type;
}

}  // namespace

Result<std::vector<oci::Descriptor>> OciStore::FindImages(const std::string& name) {
  SOCI_ASSIGN_OR_RETURN(oci::ImageIndex index, ReadIndex());
  std::vector<oci::Descriptor> images;
  for (oci::Descriptor& entry : index.manifests) {
    if (IsImage(entry) && (name.empty() || HasName(entry, name))) images.push_back(std::move(entry));
  }
  return images;
}

Result<std::optional<oci::Descriptor>> OciStore::Resolve(const std::string& name) {
  SOCI_ASSIGN_OR_RETURN(std::vector<oci::Descriptor> images, FindImages(name));
  if (images.empty()) return std::nullopt;
  if (images.size() > 1) {
    return absl::InvalidArgumentError(
        fmt::format("{} holds {} images{}", Where(), images.size(), name.empty() ? "" : " named " + name));
  }
  return images.front();
}

Result<std::vector<oci::Descriptor>> OciStore::FindReferrers(const oci::Digest& subject,
                                                             std::string_view artifact_type) {
  SOCI_ASSIGN_OR_RETURN(oci::ImageIndex index, ReadIndex());
  std::vector<oci::Descriptor> referrers;
  for (oci::Descriptor& entry : index.manifests) {
    if (entry.media_type != oci::kMediaTypeManifest) continue;
    Result<std::string> document = ReadBlob(*this, entry);
    if (absl::IsNotFound(document.status())) continue;  // a layout may be partial
    SOCI_RETURN_IF_ERROR(document.status());
    Result<oci::Manifest> manifest = oci::Manifest::Parse(*document);
    if (!manifest.ok() || !manifest->subject || manifest->subject->digest != subject) continue;
    entry.artifact_type = ArtifactType(*manifest);
    if (artifact_type.empty() || entry.artifact_type == artifact_type) referrers.push_back(std::move(entry));
  }
  return referrers;
}

Result<oci::ImageIndex> OciStore::ReadIndex() const {
  SOCI_ASSIGN_OR_RETURN(const std::string json, ReadIndexJson());
  Result<oci::ImageIndex> index = oci::ImageIndex::Parse(json);
  if (!index.ok()) return Annotate(index.status(), Where() + "/index.json");
  return index;
}

}  // namespace soci
