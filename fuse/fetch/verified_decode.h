// From a span's compressed bytes to its tar bytes, nothing taken on trust. Pure apart from memory; any thread.
#pragma once

#include <memory>

#include "fuse/fetch/span_buffer.h"
#include "indexer/base/bytes.h"
#include "indexer/base/result.h"
#include "indexer/codec/span_decoder.h"
#include "indexer/table/layer_table.h"

namespace soci {

// Whether these are the compressed bytes that the table promises.
bool MatchesDigest(const LayerTable& table, SpanId span, ByteSpan compressed);

// Decodes bytes that match. kDataLoss if they do not give exactly the promised length: then the table is false.
Result<std::shared_ptr<const SpanBuffer>> DecodeMatching(const LayerTable& table, const SpanDecoder& decoder,
                                                         SpanId span, ByteSpan compressed);

}  // namespace soci
