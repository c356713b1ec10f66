#include "indexer/index/soci_index.h"

#include <fmt/format.h>

#include "indexer/oci/annotations.h"

namespace soci {

std::string_view ToString(FoundBy found_by) {
  switch (found_by) {
    case FoundBy::kNamedDigest:
      return "digest";
    case FoundBy::kManifestAnnotation:
      return "annotation";
    case FoundBy::kReferrers:
      return "referrers";
  }
  return "?";
}

const oci::Descriptor* SociIndex::ZtocFor(const oci::LayerDigest& layer) const {
  const std::string name = layer.ToString();
  for (const oci::Descriptor& artifact : manifest.layers) {
    if (artifact.media_type != oci::kMediaTypeZtoc) continue;
    const auto annotation = artifact.annotations.find(std::string(oci::kAnnotationLayerDigest));
    if (annotation != artifact.annotations.end() && annotation->second == name) return &artifact;
  }
  return nullptr;
}

Result<oci::Manifest> ParseSociIndex(std::string_view json) {
  SOCI_ASSIGN_OR_RETURN(oci::Manifest manifest, oci::Manifest::Parse(json));
  const std::string& type = manifest.config.media_type;
  if (type != oci::kMediaTypeSociIndexV1 && type != oci::kMediaTypeSociIndexV2) {
    return absl::InvalidArgumentError(
        fmt::format("not a SOCI index: its config has the type \"{}\"", type.substr(0, 100)));
  }
  return manifest;
}

}  // namespace soci
