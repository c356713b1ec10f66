// Proves a zTOC right for its layer: reads the layer once and compares everything that the zTOC says.
//
// Blocks; one thread per call. Memory: one span, compressed and decoded, and a few MiB.
#pragma once

#include <functional>
#include <optional>

#include "indexer/base/byte_source.h"
#include "indexer/index/layer_faults.h"
#include "indexer/oci/descriptor.h"
#include "indexer/ztoc/ztoc.h"

namespace soci {

// The faults, each without the layer's name: "span 12: ...", "entry \"usr/bin/x\": ...", or of the layer itself. An
// error is the source's, not a fault.
Result<LayerFaults> VerifyLayer(const ByteSource& source, const oci::Descriptor& layer, const ZtocView& ztoc,
                                const std::optional<oci::DiffId>& diff_id,
                                const std::function<void(uint64_t)>& progress, const FetchContext& context);

}  // namespace soci
