// From what a reference stands for to the image manifests that are to be indexed, one per platform.
//
// Attestations, SOCI indexes and other artifacts in an image index do not disturb; an entry without a platform gets its
// config's. Of two entries with one platform the first counts.
#pragma once

#include <string>
#include <vector>

#include "indexer/base/fetch_context.h"
#include "indexer/index/image_home.h"
#include "indexer/oci/manifest.h"

namespace soci {

struct PlatformImage {
  oci::Descriptor descriptor;  // of the image manifest: media type, digest, size
  oci::Platform platform;
  oci::Manifest manifest;
};

// A platform that the image index lists and that is not there, or is damaged.
struct AbsentImage {
  std::string platform;
  Status reason;
};

struct SelectedImages {
  std::vector<PlatformImage> images;
  std::vector<AbsentImage> absent = {};
};

// The images of the platforms in `wanted`, in that order; empty means all. kNotFound if a wanted platform is not in the
// image, or nothing at all; kInvalidArgument if the reference stands for something that is no image.
Result<SelectedImages> SelectPlatforms(ImageHome& home, const std::vector<oci::Platform>& wanted,
                                       const FetchContext& context);

// The DiffIDs of the image's layers, one for each. kInvalidArgument if the config has another number of them.
Result<std::vector<oci::DiffId>> ReadDiffIds(ImageHome& home, const PlatformImage& image, const FetchContext& context);

}  // namespace soci
