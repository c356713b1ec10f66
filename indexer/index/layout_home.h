// An image in an OCI layout directory; see ImageHome.
#pragma once

#include <memory>
#include <string>

#include "indexer/index/image_home.h"

namespace soci {

class OciLayout;

// The image called `tag` in `layout`; without a tag the only one. `name` is what the user wrote.
std::unique_ptr<ImageHome> MakeLayoutHome(std::unique_ptr<OciLayout> layout, std::string tag, std::string name);

}  // namespace soci
