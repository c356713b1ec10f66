// The layers of the differential test. Adding one is adding one line to the list in generated_layers.cc.
#pragma once

#include <string>
#include <vector>

#include "tests/layers/indexed_layer.h"

namespace soci::test {

struct GeneratedLayer {
  std::string name;  // letters, digits and dashes
  std::string tar;
  IndexedLayerOptions options = {};
};

std::vector<GeneratedLayer> GeneratedLayers();

}  // namespace soci::test
