#include "indexer/registry/referrers_tag.h"

#include <fmt/format.h>

#include <thread>

#include "indexer/oci/annotations.h"
#include "indexer/oci/index_edit.h"
#include "indexer/oci/manifest.h"
#include "indexer/registry/registry_client.h"

namespace soci {
namespace {

// Each attempt loses only to a writer that won, so this many writers at once get through.
constexpr int kAttempts = 20;

// Whether the entry was there already.
Result<bool> AddOnce(RegistryClient& registry, const oci::Reference& repository, const std::string& tag,
                     const oci::Descriptor& referrer) {
  Result<FetchedDocument> found = registry.FetchManifest(repository, tag, {});
  bool exists = !absl::IsNotFound(found.status());
  if (exists && !found.ok()) return found.status();
  std::string before =
      exists ? found->body : oci::ImageIndex{.media_type = std::string(oci::kMediaTypeImageIndex)}.ToJson();
  SOCI_ASSIGN_OR_RETURN(std::string after, oci::WithEntry(before, referrer));
  if (exists && after == before) return true;
  Result<PushedManifest> pushed =
      registry.ReplaceManifest(repository, tag, oci::kMediaTypeImageIndex, after, exists ? &*found : nullptr);
  if (!pushed.ok() && !absl::IsAborted(pushed.status())) return pushed.status();
  return false;
}

}  // namespace

std::string ReferrersTag(const oci::Digest& subject) { return "sha256-" + subject.Hex(); }

Status AddToReferrersTag(RegistryClient& registry, const oci::Reference& repository, const oci::Digest& subject,
                         const oci::Descriptor& referrer, std::chrono::milliseconds settle) {
  const std::string tag = ReferrersTag(subject);
  bool wrote = false;  // since the last look
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    Result<bool> there = AddOnce(registry, repository, tag, referrer);
    if (!there.ok()) return Annotate(there.status(), "tag " + tag);
    if (*there && !wrote) return OkStatus();
    // A writer that had read before ours came may still write.
    if (*there) std::this_thread::sleep_for(settle);
    wrote = !*there;
  }
  return absl::AbortedError(fmt::format("tag {}: others keep writing over the entry", tag));
}

}  // namespace soci
