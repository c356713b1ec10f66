// What a layer's stream holds after its last span: padding that a zTOC does not count, but a DiffID does.
#pragma once

#include <functional>

#include "indexer/base/byte_source.h"
#include "indexer/base/fetch_context.h"
#include "indexer/base/result.h"
#include "indexer/table/layer_table.h"

namespace soci {

// Reads the last span's compressed bytes, to the end of the layer, decodes them and gives `sink` what comes after
// table.uncompressed_size(). The bytes are proven by nothing here; the DiffID does that. Blocks. kDataLoss if they do
// not decode; kResourceExhausted for a last span too large to hold.
Status ReadStreamTail(const LayerTable& table, const ByteSource& layer, const FetchContext& context,
                      const std::function<Status(ByteSpan)>& sink);

}  // namespace soci
