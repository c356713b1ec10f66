// Where a layer's decoded bytes stay: written once per span, read by file. The seam between fetching and the disk.
//
// Any thread. A span is written by one caller at a time. Nothing is trusted that was not checked: after an unclean stop
// a span counts as present only when its checksum agrees.
#pragma once

#include <cstdint>
#include <optional>

#include "indexer/base/bytes.h"
#include "indexer/base/ranges.h"
#include "indexer/base/result.h"
#include "indexer/table/layer_table.h"

namespace soci {

class BackingStore {
 public:
  virtual ~BackingStore() = default;

  virtual bool IsPresent(SpanId span) const = 0;
  virtual uint32_t present_count() const = 0;
  // The first span at or after `from` that is not present.
  virtual std::optional<SpanId> NextMissing(SpanId from) const = 0;

  // Checks a decoded span against what the table claims: headers that lie wholly in it, and the windows shared with
  // neighbours that are present. kDataLoss condemns the layer. Cheap; call it before the bytes are served.
  virtual Status CheckSpan(SpanId span, ByteSpan decoded) = 0;

  // Puts a checked span where the finished layer will keep it; the span is present afterwards.
  virtual Status WriteSpan(SpanId span, ByteSpan decoded) = 0;

  // Reads from a regular file whose spans are present. With `may_block` false, kUnavailable if the disk would have to
  // be waited for. kFailedPrecondition if a span of it is not present (any more).
  virtual Result<size_t> ReadFile(InodeId file, uint64_t file_offset, MutableByteSpan out, bool may_block) = 0;
};

}  // namespace soci
