// Proves a SOCI index right for its image: every zTOC against its layer, and the index against the image's manifest.
//
// Layers side by side, each read once; nothing is written. Blocks.
#pragma once

#include <string>
#include <vector>

#include "indexer/index/image_home.h"
#include "indexer/index/layer_faults.h"
#include "indexer/index/layer_progress.h"
#include "indexer/index/select_platforms.h"
#include "indexer/index/soci_index.h"

namespace soci {

struct LayerVerdict {
  oci::Descriptor layer;
  oci::Descriptor ztoc;
  LayerFaults faults = {};
  size_t spans = 0;
  size_t entries = 0;
};

struct IndexVerdict {
  std::vector<std::string> faults = {};   // of the index itself
  std::vector<LayerVerdict> layers = {};  // those that have a zTOC, in the index's order

  bool ok() const;
};

// An error is one of reaching the image or its index; what is wrong with them is in the verdict.
Result<IndexVerdict> VerifyIndex(ImageHome& home, const PlatformImage& image, const SociIndex& index, size_t threads,
                                 LayerProgress& progress, const FetchContext& context);

}  // namespace soci
