// An image in an OCI layout, a directory or an archive; see ImageHome.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "indexer/index/image_home.h"

namespace soci {

class OciStore;

struct LayoutImage {
  std::string tag = {};                              // empty: the only image there is
  std::optional<oci::Digest> digest = std::nullopt;  // comes before the tag
  std::string name = {};                             // what the user wrote
};

std::unique_ptr<ImageHome> MakeLayoutHome(std::unique_ptr<OciStore> layout, LayoutImage image);

}  // namespace soci
