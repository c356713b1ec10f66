// Puts the zTOCs of an image together into a SOCI index manifest. Pure: the same input gives the same bytes, on any
// machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "indexer/oci/manifest.h"

namespace soci {

// One layer of the image and the artifact (zTOC or prefetch artifact) made for it: digest and size.
struct LayerArtifact {
  oci::Descriptor layer;
  oci::Descriptor artifact;
  bool disable_xattrs = false;  // zTOC only: the layer has no xattrs, so nobody need ask for them
};

struct IndexContents {
  std::vector<LayerArtifact> ztocs;     // in image order; a layer that the image lists twice is listed twice
  std::vector<LayerArtifact> prefetch;  // in image order
  uint64_t span_size = 0;
  std::string build_tool;
};

// The index of version 1, about the image manifest `subject`.
oci::Manifest MakeSociIndexV1(const IndexContents& contents, const oci::Descriptor& subject);

// The index of version 2: the same zTOCs give the same index, whatever the image.
oci::Manifest MakeSociIndexV2(const IndexContents& contents);

// A manifest's descriptor as a referrer is listed: with the artifact type and annotations of the manifest.
oci::Descriptor ReferrerDescriptor(const oci::Manifest& manifest, std::string_view json);

}  // namespace soci
