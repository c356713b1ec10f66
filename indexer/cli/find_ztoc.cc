#include "indexer/cli/find_ztoc.h"

#include <fmt/format.h>

#include "indexer/cli/session.h"
#include "indexer/index/find_index.h"
#include "indexer/index/list_indexes.h"

namespace soci::cli {
namespace {

// The layer and its zTOC, if this index lists one of that digest, or for a layer of that digest.
std::optional<std::pair<oci::Descriptor, oci::Descriptor>> LookUp(const PlatformImage& image, const SociIndex& index,
                                                                  const oci::Digest& digest) {
  for (const oci::Descriptor& layer : image.manifest.layers) {
    const oci::Descriptor* ztoc = index.ZtocFor(oci::LayerDigest(layer.digest));
    if (ztoc != nullptr && (ztoc->digest == digest || layer.digest == digest)) return std::pair(layer, *ztoc);
  }
  return std::nullopt;
}

}  // namespace

Result<FoundZtoc> FindZtoc(ImageHome& home, const oci::Digest& digest) {
  SOCI_ASSIGN_OR_RETURN(const SelectedImages selected, SelectPlatforms(home, {}, kDocumentContext));
  for (const PlatformImage& image : selected.images) {
    SOCI_ASSIGN_OR_RETURN(const std::vector<SociIndex> indexes, ListIndexes(home, image, kDocumentContext));
    for (const SociIndex& index : indexes) {
      const auto found = LookUp(image, index, digest);
      if (!found) continue;
      const auto& [layer, descriptor] = *found;
      const std::string what = fmt::format("zTOC {}", descriptor.digest.ToString());
      Result<std::string> bytes = home.Read(descriptor, static_cast<uint64_t>(kMaxZtocBytes), kLayerContext);
      if (!bytes.ok()) return Annotate(bytes.status(), what);
      FoundZtoc answer{layer, descriptor, std::make_unique<const std::string>(*std::move(bytes)), {}};
      Result<ZtocView> ztoc = ViewZtoc(*answer.bytes);
      if (!ztoc.ok()) return Annotate(ztoc.status(), what);
      answer.ztoc = *std::move(ztoc);
      return answer;
    }
  }
  return absl::NotFoundError(fmt::format("no SOCI index of the image has a zTOC {}, or one for a layer {}",
                                         digest.ToString(), digest.ToString()));
}

}  // namespace soci::cli
