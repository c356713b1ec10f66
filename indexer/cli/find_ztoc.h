// Finds a zTOC of an image by its own digest or by its layer's, among all indexes of all platforms.
#pragma once

#include <memory>
#include <string>

#include "indexer/index/image_home.h"
#include "indexer/ztoc/ztoc.h"

namespace soci::cli {

struct FoundZtoc {
  oci::Descriptor layer;
  oci::Descriptor descriptor;
  std::unique_ptr<const std::string> bytes;
  ZtocView ztoc;  // of the bytes
};

// kNotFound if no index of the image lists it.
Result<FoundZtoc> FindZtoc(ImageHome& home, const oci::Digest& digest);

}  // namespace soci::cli
