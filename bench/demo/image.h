// The demo's image: the layers that make_layers.sh has made, read from its folder. Throws std::runtime_error if they
// are not there.
#pragma once

#include <string>

#include "tests/e2e/support/image.h"

namespace soci::demo {

test::TestImage ReadImage(const std::string& layers_folder);

}  // namespace soci::demo
