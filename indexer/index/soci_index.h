// A SOCI index as a manifest that was checked: which zTOC stands for which layer. A value; see docs/formats.md.
//
// Both versions are read by the same rules; how an index was found says nothing about its version.
#pragma once

#include <string_view>

#include "indexer/oci/digest.h"
#include "indexer/oci/manifest.h"

namespace soci {

// How the index of an image was found.
enum class FoundBy {
  kNamedDigest,         // the user or a label named it
  kManifestAnnotation,  // the image's own manifest names it
  kReferrers,           // the registry lists it for the image
};
std::string_view ToString(FoundBy found_by);

struct SociIndex {
  oci::Digest digest;
  oci::Manifest manifest;
  FoundBy found_by = FoundBy::kNamedDigest;

  // The zTOC of a layer; null if the index has none for it. The first one counts; prefetch artifacts are no zTOCs.
  const oci::Descriptor* ZtocFor(const oci::LayerDigest& layer) const;
};

// kInvalidArgument unless it is an image manifest whose config has the type of a SOCI index, version 1 or 2.
Result<oci::Manifest> ParseSociIndex(std::string_view json);

}  // namespace soci
