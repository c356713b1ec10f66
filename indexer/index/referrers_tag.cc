#include "indexer/index/referrers_tag.h"

#include <fmt/format.h>

#include "indexer/oci/annotations.h"
#include "indexer/oci/index_edit.h"
#include "indexer/oci/manifest.h"
#include "indexer/registry/referrers.h"
#include "indexer/registry/registry_client.h"

namespace soci {
namespace {

constexpr int kAttempts = 5;

// What the tag holds now; an empty image index if there is no such tag.
Result<std::string> Current(RegistryClient& registry, const oci::Reference& repository, const std::string& tag) {
  Result<FetchedDocument> document = registry.FetchManifest(repository, tag, {});
  if (absl::IsNotFound(document.status())) {
    return oci::ImageIndex{.media_type = std::string(oci::kMediaTypeImageIndex)}.ToJson();
  }
  if (!document.ok()) return document.status();
  return std::move(document->body);
}

// Whether the entry was there already.
Result<bool> AddOnce(RegistryClient& registry, const oci::Reference& repository, const std::string& tag,
                     const oci::Descriptor& referrer) {
  SOCI_ASSIGN_OR_RETURN(std::string before, Current(registry, repository, tag));
  SOCI_ASSIGN_OR_RETURN(std::string after, oci::WithEntry(before, referrer));
  if (after == before) return true;
  SOCI_RETURN_IF_ERROR(registry.PushManifest(repository, tag, oci::kMediaTypeImageIndex, after).status());
  return false;
}

}  // namespace

Status AddToReferrersTag(RegistryClient& registry, const oci::Reference& repository, const oci::Digest& subject,
                         const oci::Descriptor& referrer) {
  const std::string tag = ReferrersTag(subject);
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    Result<bool> there = AddOnce(registry, repository, tag, referrer);
    if (!there.ok()) return Annotate(there.status(), "tag " + tag);
    if (*there) return OkStatus();
  }
  return absl::AbortedError(fmt::format("tag {}: others keep writing over the entry", tag));
}

}  // namespace soci
