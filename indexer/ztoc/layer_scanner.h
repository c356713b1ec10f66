// Reads a layer once, from its first byte to its last, and makes its zTOC, its DiffID and its own digest on the way.
//
// Memory: the result, and a few MiB. One thread at a time; several scanners may run side by side.
#pragma once

#include <functional>
#include <string>

#include "indexer/base/byte_stream.h"
#include "indexer/base/result.h"
#include "indexer/ztoc/ztoc.h"

namespace soci {

struct ScanOptions {
  uint64_t span_size = 4 << 20;
  std::string build_tool;  // default: oci::kBuildTool
  // Told now and then how many compressed bytes were read.
  std::function<void(uint64_t)> progress = {};
};

struct ScannedLayer {
  Ztoc ztoc;
  oci::LayerDigest layer;
  oci::DiffId diff_id;
};

// kInvalidArgument, saying why, for a layer that cannot be indexed exactly (damaged, unsupported member, trailing
// bytes).
Result<ScannedLayer> ScanLayer(ByteStream& layer, Compression compression, const ScanOptions& options);

}  // namespace soci
