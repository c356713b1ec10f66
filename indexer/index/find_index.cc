#include "indexer/index/find_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <stop_token>
#include <utility>
#include <vector>

#include "indexer/oci/annotations.h"
#include "indexer/registry/registry_client.h"

namespace soci {
namespace {

// Anybody who may push can add referrers: so many are looked at, no more.
constexpr size_t kMaxCandidates = 16;

Result<SociIndex> FetchIndex(RegistryClient& registry, const oci::Reference& repository, const oci::Digest& digest,
                             FoundBy found_by, const FetchContext& context) {
  const std::string what = fmt::format("SOCI index {}", digest.ToString());
  Result<FetchedDocument> document = registry.FetchManifest(repository, digest.ToString(), context);
  if (!document.ok()) return Annotate(document.status(), what);
  Result<oci::Manifest> manifest = ParseSociIndex(document->body);
  if (!manifest.ok()) return Annotate(manifest.status(), what);
  return SociIndex{digest, *std::move(manifest), found_by};
}

using Referrers = Result<std::vector<oci::Descriptor>>;

Result<oci::Manifest> FetchImageManifest(RegistryClient& registry, const oci::Reference& repository,
                                         const oci::Digest& digest, const FetchContext& context) {
  SOCI_ASSIGN_OR_RETURN(FetchedDocument document, registry.FetchManifest(repository, digest.ToString(), context));
  return oci::Manifest::Parse(document.body);
}

// The digest that the image's manifest names as its index.
Result<std::optional<oci::Digest>> AnnotatedDigest(const oci::Manifest& manifest) {
  const auto annotation = manifest.annotations.find(std::string(oci::kAnnotationIndexDigest));
  if (annotation == manifest.annotations.end()) return std::nullopt;
  Result<oci::Digest> digest = oci::Digest::Parse(annotation->second);
  if (!digest.ok()) return Annotate(digest.status(), "annotation " + annotation->first);
  return *digest;
}

// The candidates in the order in which they are tried.
std::vector<oci::Descriptor> Candidates(std::vector<oci::Descriptor> referrers) {
  std::erase_if(referrers, [](const oci::Descriptor& referrer) {
    return referrer.media_type != oci::kMediaTypeManifest || referrer.artifact_type != oci::kMediaTypeSociIndexV1;
  });
  std::sort(referrers.begin(), referrers.end(),
            [](const oci::Descriptor& a, const oci::Descriptor& b) { return a.digest < b.digest; });
  if (referrers.size() > kMaxCandidates) referrers.resize(kMaxCandidates);
  return referrers;
}

Result<std::optional<SociIndex>> FindReferringIndex(RegistryClient& registry, const oci::Reference& repository,
                                                    const oci::Digest& image_manifest, Referrers referrers,
                                                    const FetchContext& context) {
  SOCI_RETURN_IF_ERROR(referrers.status());
  Status first_fault;
  for (const oci::Descriptor& candidate : Candidates(*std::move(referrers))) {
    Result<SociIndex> index = FetchIndex(registry, repository, candidate.digest, FoundBy::kReferrers, context);
    if (index.ok()) {
      if (index->manifest.subject && index->manifest.subject->digest == image_manifest) return *std::move(index);
      first_fault.Update(absl::InvalidArgumentError(
          fmt::format("SOCI index {} is listed for this image, but is about another", candidate.digest.ToString())));
      continue;
    }
    const bool damaged = absl::IsInvalidArgument(index.status()) || absl::IsDataLoss(index.status());
    if (damaged) first_fault.Update(index.status());
    // A listed manifest that is gone is no index; anything else may pass, and must not be taken for "no index".
    if (!damaged && !absl::IsNotFound(index.status())) return index.status();
  }
  if (!first_fault.ok()) return first_fault;
  return std::nullopt;
}

Result<std::optional<SociIndex>> FindNamedByImage(RegistryClient& registry, const oci::Reference& repository,
                                                  const oci::Digest& image_manifest, const FindOptions& options,
                                                  const FetchContext& context) {
  const auto annotate = [&](const Status& status) {
    return Annotate(status, fmt::format("image manifest {}", image_manifest.ToString()));
  };
  Result<oci::Manifest> manifest =
      options.manifest ? options.manifest() : FetchImageManifest(registry, repository, image_manifest, context);
  if (!manifest.ok()) return annotate(manifest.status());
  Result<std::optional<oci::Digest>> annotated = AnnotatedDigest(*manifest);
  if (!annotated.ok()) return annotate(annotated.status());
  if (!*annotated) return std::nullopt;
  Result<SociIndex> index = FetchIndex(registry, repository, **annotated, FoundBy::kManifestAnnotation, context);
  if (index.ok()) return *std::move(index);
  if (!absl::IsNotFound(index.status())) return index.status();
  return std::nullopt;
}

}  // namespace

Result<std::optional<SociIndex>> FindSociIndex(RegistryClient& registry, const oci::Reference& repository,
                                               const oci::Digest& image_manifest, const FindOptions& options,
                                               const FetchContext& context) {
  if (options.named) {
    SOCI_ASSIGN_OR_RETURN(SociIndex index,
                          FetchIndex(registry, repository, *options.named, FoundBy::kNamedDigest, context));
    return index;
  }
  // Ends early when it turns out not to matter.
  std::stop_source stop;
  const std::stop_callback stopped(context.stop, [&stop] { stop.request_stop(); });
  FetchContext listing = context;
  listing.stop = stop.get_token();
  const bool alone = !options.manifest;
  std::future<Referrers> referrers;
  if (!options.bound_only && options.referrers) {
    referrers = std::async(
        alone ? std::launch::deferred : std::launch::async, [&registry, &repository, &image_manifest, listing] {
          return registry.FindReferrers(repository, image_manifest, oci::kMediaTypeSociIndexV1, listing);
        });
  }
  Result<std::optional<SociIndex>> index = FindNamedByImage(registry, repository, image_manifest, options, context);
  if (!referrers.valid()) return index;
  if (index.ok() && !*index) {
    return FindReferringIndex(registry, repository, image_manifest, referrers.get(), context);
  }
  stop.request_stop();  // the future's destructor waits
  return index;
}

Result<std::string> FetchZtoc(RegistryClient& registry, const oci::Reference& repository, const oci::Descriptor& ztoc,
                              const FetchContext& context) {
  const std::string what = fmt::format("zTOC {}", ztoc.digest.ToString());
  if (ztoc.size > kMaxZtocBytes) {
    return absl::InvalidArgumentError(fmt::format("{}: {} bytes are more than any tool can write", what, ztoc.size));
  }
  Result<std::string> bytes = registry.FetchBlob(repository, ztoc, context);
  if (!bytes.ok()) return Annotate(bytes.status(), what);
  return bytes;
}

}  // namespace soci
