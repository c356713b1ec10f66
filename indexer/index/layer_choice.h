// Which layers of an image get a zTOC, told by their descriptors alone. Pure.
//
// The rules are the reference tool's, but for one: what makes that tool give up on the whole image is here a layer that
// is skipped, with its reason.
#pragma once

#include <cstdint>
#include <string>

#include "indexer/oci/descriptor.h"
#include "indexer/ztoc/ztoc.h"

namespace soci {

// What became of a layer, or will.
enum class LayerOutcome {
  kIndexed,
  kIgnored,      // no layer at all: an artifact that rides along
  kSmall,        // below the minimum size, as asked for
  kUnsupported,  // of a kind that has no zTOC
  kRefused,      // damaged, or not exactly representable
};
std::string_view ToString(LayerOutcome outcome);

struct LayerChoice {
  LayerOutcome outcome = LayerOutcome::kIndexed;
  Compression compression = Compression::kGzip;  // of a layer to be indexed, if its media type is right
  std::string reason = {};                       // of any other
};

LayerChoice ChooseLayer(const oci::Descriptor& layer, uint64_t min_layer_size);

}  // namespace soci
