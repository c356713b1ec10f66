// Where a layer's decoded bytes stay: written once per span, read by file. The seam between fetching and the disk.
//
// Any thread. A span is written by one caller at a time. Nothing is trusted that was not checked: after an unclean stop
// a span counts as present only when its checksum agrees.
#pragma once

#include <cstdint>
#include <memory>
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

  // Puts a checked span where the finished layer will keep it; the span is present afterwards, unless a limit on what
  // is kept leaves no room for it: that is no error.
  virtual Status WriteSpan(SpanId span, ByteSpan decoded) = 0;

  // Reads from a regular file whose spans are present. With `may_block` false, kUnavailable if the disk would have to
  // be waited for. kFailedPrecondition if a span of it is not present (any more).
  virtual Result<size_t> ReadFile(InodeId file, uint64_t file_offset, MutableByteSpan out, bool may_block) = 0;

  // What a limit on the disk wants to know. Without one, spans stay.

  // Somebody got the span's bytes from memory; it need not be kept for a first reader any more. Never blocks.
  virtual void NoteRead(SpanId) {}
  // Decoded bytes that may be fetched before anybody wants them. Never blocks.
  virtual uint64_t RoomAhead() const { return ~uint64_t{0}; }
  // The span is not evicted as long as a copy of this lives, which may be longer than the store.
  virtual std::shared_ptr<const void> Pin(SpanId) { return nullptr; }
};

}  // namespace soci
