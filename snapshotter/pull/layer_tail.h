// What a layer's tar stream holds after its last span: padding that a zTOC does not tell, but that the DiffID covers.
//
// Fetches and decodes the last span once more. Blocks.
#pragma once

#include <functional>

#include "indexer/base/bytes.h"
#include "indexer/base/fetch_context.h"
#include "indexer/base/result.h"

namespace soci {

class ByteSource;
class LayerTable;

Status ReadLayerTail(const LayerTable& table, const ByteSource& layer, const FetchContext& context,
                     const std::function<Status(ByteSpan)>& sink);

}  // namespace soci
