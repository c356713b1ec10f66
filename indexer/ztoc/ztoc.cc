#include "indexer/ztoc/ztoc.h"

namespace soci {

std::vector<SpanExtent> Ztoc::Spans() const {
  if (compression == Compression::kUncompressed) return PlainSpans(span_size, compressed_size);
  return SpansOf(checkpoints, compressed_size, uncompressed_size);
}

}  // namespace soci
