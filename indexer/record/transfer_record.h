// Makes the record of one image serve the next version of it. Pure; any thread.
//
// Layers that both have keep their extents. A file of a layer that the new image lacks keeps its place if the new image
// shows a file of that path and size, in whatever layer; what became something else is left out. The time at which the
// rest is needed stays.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "indexer/base/result.h"
#include "indexer/record/record.h"

namespace soci {

// What a layer has at a path: the size of its regular file, no size for anything else, nothing if it does not have the
// path, or if nothing is known of the layer.
struct LayerMember {
  std::optional<uint64_t> size;
};
using LayerLookup = std::function<std::optional<LayerMember>(const oci::LayerDigest& layer, const std::string& path)>;

struct TransferredRecord {
  Record record;
  uint64_t kept_bytes = 0;   // of layers that both images have
  uint64_t moved_bytes = 0;  // of files found again
  uint64_t lost_bytes = 0;
};

// `layers` are the new image's, in order, at most kMostRecordLayers.
Result<TransferredRecord> TransferRecord(const Record& record, const oci::Digest& manifest,
                                         const std::vector<oci::LayerDigest>& layers, const LayerLookup& lookup);

}  // namespace soci
