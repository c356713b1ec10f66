// A span's decoded bytes in memory, shared by everyone who waits for them and by the write-behind queue. Immutable.
#pragma once

#include "fuse/store/span_memory.h"
#include "indexer/base/bytes.h"
#include "indexer/base/ranges.h"

namespace soci {

struct SpanBuffer {
  UncompressedRange range;  // of the layer's tar
  SpanMemory bytes;

  ByteSpan view() const { return {bytes.get(), static_cast<size_t>(range.size())}; }
};

}  // namespace soci
