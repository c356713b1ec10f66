// The spans that a zTOC's checkpoints make, or why they cannot be the spans of any layer. Pure; any thread.
#pragma once

#include <vector>

#include "indexer/base/bytes.h"
#include "indexer/base/result.h"
#include "indexer/codec/checkpoint.h"
#include "indexer/ztoc/ztoc.h"

namespace soci::table {

// A span is decoded as a whole, in memory; a layer with a larger one is better unpacked.
inline constexpr uint64_t kMaxSpanSize = uint64_t{256} << 20;

struct LayerSpan {
  SpanExtent extent;
  oci::Digest digest;
  ByteSpan window;  // of the zTOC's; none for a plain tar
};

// Spans without a tar byte (a compressor's empty first or last block) are left out, so those that remain are strictly
// increasing and cover [0, end of the last) of the tar. kInvalidArgument naming the span that contradicts the others.
Result<std::vector<LayerSpan>> CheckedSpans(const ZtocView& ztoc);

}  // namespace soci::table
