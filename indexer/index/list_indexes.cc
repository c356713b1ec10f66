#include "indexer/index/list_indexes.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "indexer/oci/annotations.h"

namespace soci {

Result<SociIndex> ReadIndex(ImageHome& home, const oci::Digest& digest, FoundBy found_by, const FetchContext& context) {
  const std::string what = fmt::format("SOCI index {}", digest.ToString());
  auto read = [&]() -> Result<SociIndex> {
    SOCI_ASSIGN_OR_RETURN(oci::Descriptor descriptor, home.ResolveDigest(digest, context));
    SOCI_ASSIGN_OR_RETURN(std::string document, home.Read(descriptor, oci::kMaxDocumentBytes, context));
    SOCI_ASSIGN_OR_RETURN(oci::Manifest manifest, ParseSociIndex(document));
    return SociIndex{digest, std::move(manifest), found_by};
  };
  Result<SociIndex> index = read();
  if (!index.ok()) return Annotate(index.status(), what);
  return index;
}

Result<std::vector<SociIndex>> ListIndexes(ImageHome& home, const PlatformImage& image, const FetchContext& context) {
  std::vector<std::pair<oci::Digest, FoundBy>> found;
  const auto annotation = image.manifest.annotations.find(std::string(oci::kAnnotationIndexDigest));
  if (annotation != image.manifest.annotations.end()) {
    Result<oci::Digest> digest = oci::Digest::Parse(annotation->second);
    if (!digest.ok()) return Annotate(digest.status(), "annotation " + annotation->first);
    found.emplace_back(*digest, FoundBy::kManifestAnnotation);
  }
  SOCI_ASSIGN_OR_RETURN(std::vector<oci::Descriptor> referrers,
                        home.FindReferrers(image.descriptor.digest, oci::kMediaTypeSociIndexV1, context));
  std::sort(referrers.begin(), referrers.end(), [](const auto& a, const auto& b) { return a.digest < b.digest; });
  for (const oci::Descriptor& referrer : referrers) {
    if (found.empty() || found.back().first != referrer.digest)
      found.emplace_back(referrer.digest, FoundBy::kReferrers);
  }
  std::vector<SociIndex> indexes;
  for (const auto& [digest, found_by] : found) {
    Result<SociIndex> index = ReadIndex(home, digest, found_by, context);
    if (absl::IsNotFound(index.status())) continue;
    if (!index.ok()) return index.status();
    indexes.push_back(*std::move(index));
  }
  return indexes;
}

}  // namespace soci
