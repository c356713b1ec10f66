// Turns a span's compressed bytes into its tar bytes. One implementation per compression; stateless, any thread.
#pragma once

#include <functional>

#include "indexer/base/bytes.h"
#include "indexer/base/result.h"
#include "indexer/codec/checkpoint.h"

namespace soci {

class SpanDecoder {
 public:
  virtual ~SpanDecoder() = default;

  // Fills all of `out` (the span's uncompressed size, or less to decode only its beginning). `compressed` is exactly
  // span.compressed; its digest has been checked already. `window` has kWindowSize bytes (empty for plain tar).
  // kDataLoss if the bytes do not decode to that many; never reads or writes outside, never loops.
  virtual Status Decode(const SpanExtent& span, ByteSpan window, ByteSpan compressed, MutableByteSpan out) const = 0;

  // Decodes everything in the *last* span of a layer and gives it to `sink` in pieces. A zTOC does not tell that span's
  // decoded size: padding may follow the archive, and it counts for the DiffID.
  virtual Status DecodeToEnd(const SpanExtent& span, ByteSpan window, ByteSpan compressed,
                             const std::function<Status(ByteSpan)>& sink) const = 0;
};

// The decoder of a compression; lives for ever.
const SpanDecoder& DecoderFor(Compression compression);

}  // namespace soci
