#include "indexer/index/registry_home.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "indexer/base/mutex.h"
#include "indexer/oci/annotations.h"
#include "indexer/oci/manifest.h"
#include "indexer/registry/referrers_tag.h"
#include "indexer/registry/registry_client.h"
#include "indexer/registry/registry_error.h"

namespace soci {
namespace {

bool IsManifest(std::string_view media_type) {
  return media_type == oci::kMediaTypeManifest || media_type == oci::kMediaTypeImageIndex ||
         media_type == oci::kMediaTypeDockerManifest || media_type == oci::kMediaTypeDockerManifestList;
}

class RegistryHome : public ImageHome {
 public:
  RegistryHome(RegistryClient& registry, oci::Reference reference)
      : registry_(registry), reference_(std::move(reference)) {}

  std::string Name() const override { return reference_.ToString(); }

  Result<std::vector<oci::Descriptor>> Resolve(const FetchContext& context) override {
    SOCI_ASSIGN_OR_RETURN(oci::Descriptor descriptor, Describe(reference_.ManifestName(), context));
    return std::vector{descriptor};
  }

  Result<oci::Descriptor> ResolveDigest(const oci::Digest& digest, const FetchContext& context) override {
    return Describe(digest.ToString(), context);
  }

  Result<std::string> Read(const oci::Descriptor& blob, uint64_t limit, const FetchContext& context) override {
    if (static_cast<uint64_t>(blob.size) > limit) {
      return absl::ResourceExhaustedError(
          fmt::format("{}: {} bytes, more than {}", blob.digest.ToString(), blob.size, limit));
    }
    if (!IsManifest(blob.media_type)) return registry_.FetchBlob(reference_, blob, context);
    {
      MutexLock lock(mutex_);
      if (resolved_ && resolved_->digest == blob.digest) return resolved_->body;
    }
    SOCI_ASSIGN_OR_RETURN(FetchedDocument document,
                          registry_.FetchManifest(reference_, blob.digest.ToString(), context));
    return std::move(document.body);
  }

  Result<std::unique_ptr<ByteSource>> Open(const oci::Descriptor& blob) override {
    return registry_.OpenBlob(reference_, blob);
  }

  Result<std::vector<oci::Descriptor>> FindReferrers(const oci::Digest& subject, std::string_view artifact_type,
                                                     const FetchContext& context) override {
    return registry_.FindReferrers(reference_, subject, artifact_type, context);
  }

  Status PutBlob(const oci::Descriptor& blob, std::string bytes) override {
    return registry_.PushBlob(reference_, blob, bytes);
  }

  Status PutReferrer(const oci::Descriptor& manifest, std::string_view json, const oci::Digest& subject) override {
    if (IsListed(manifest, subject)) return OkStatus();
    Result<PushedManifest> pushed =
        registry_.PushManifest(reference_, manifest.digest.ToString(), manifest.media_type, json);
    if (!pushed.ok()) return NotTaken(pushed.status());
    if (pushed->subject_accepted) return OkStatus();
    return AddToReferrersTag(registry_, reference_, subject, manifest);
  }

  Status Tag(const oci::Descriptor& manifest, std::string_view json, const std::string& tag) override {
    Result<FetchedDocument> there = registry_.FetchManifest(reference_, tag, {});
    if (there.ok() && there->digest == manifest.digest) return OkStatus();
    Result<PushedManifest> pushed = registry_.PushManifest(reference_, tag, manifest.media_type, json);
    return pushed.ok() ? OkStatus() : Annotate(NotTaken(pushed.status()), "tag " + tag);
  }

  Status Commit() override { return OkStatus(); }

 private:
  // The registry has it and gives it back: nothing is sent again. What cannot be told is no.
  bool IsListed(const oci::Descriptor& manifest, const oci::Digest& subject) {
    Result<std::vector<oci::Descriptor>> listed =
        registry_.FindReferrers(reference_, subject, manifest.artifact_type, {});
    if (!listed.ok()) return false;
    const bool found = std::any_of(listed->begin(), listed->end(),
                                   [&](const oci::Descriptor& one) { return one.digest == manifest.digest; });
    return found && registry_.FetchManifest(reference_, manifest.digest.ToString(), {}).ok();
  }

  // Some registries refuse manifests with a subject, or with a type they do not know; others take no pushes at all.
  static Status NotTaken(const Status& status) {
    const std::optional<int> http = HttpStatusOf(status);
    const bool refused = http == 400 || http == 405 || http == 406 || http == 415 || http == 422;
    if (!refused) return status;
    return WithHttpStatus(absl::UnimplementedError(fmt::format(
                              "the registry takes nothing beside the image, which is as it was: {}", Message(status))),
                          *http);
  }

  // The descriptor of what is called `name`. The document's own word for its type comes before the server's.
  Result<oci::Descriptor> Describe(const std::string& name, const FetchContext& context) {
    SOCI_ASSIGN_OR_RETURN(FetchedDocument document, registry_.FetchManifest(reference_, name, context));
    SOCI_ASSIGN_OR_RETURN(std::string media_type, oci::DocumentMediaType(document.body));
    oci::Descriptor descriptor{.media_type = media_type.empty() ? document.media_type : media_type,
                               .digest = document.digest,
                               .size = static_cast<int64_t>(document.body.size())};
    MutexLock lock(mutex_);
    resolved_ = std::move(document);
    return descriptor;
  }

  RegistryClient& registry_;
  const oci::Reference reference_;
  Mutex mutex_;                                                      // a leaf
  std::optional<FetchedDocument> resolved_ SOCI_GUARDED_BY(mutex_);  // what was described last is mostly read next
};

}  // namespace

std::unique_ptr<ImageHome> MakeRegistryHome(RegistryClient& registry, oci::Reference reference) {
  return std::make_unique<RegistryHome>(registry, std::move(reference));
}

}  // namespace soci
