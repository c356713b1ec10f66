// Compares decoded spans with what the layer table claims about them: the windows between spans, and the tar headers.
//
// A span digest proves compressed bytes only; this is what ties the table to the layer. A window is compared with what
// the span before it really decoded to (its own window included, if it is shorter than one), so that, from span 0 on,
// every decode is proven. A header that lies in several spans is compared when the last of them comes. What follows the
// last member must be the archive's end, so that a table cannot leave members out. Any thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <unordered_map>

#include "indexer/base/bytes.h"
#include "indexer/base/mutex.h"
#include "indexer/base/result.h"
#include "indexer/table/layer_table.h"

namespace soci {

class SpanChecker {
 public:
  // Reads header bytes of a span that is on the disk; false if it is not there.
  using ReadHeaderBytes = std::function<bool(SpanId span, UncompressedRange range, MutableByteSpan out)>;

  SpanChecker(std::shared_ptr<const LayerTable> table, ReadHeaderBytes read_header_bytes);

  // kDataLoss, saying what differs.
  Status Check(SpanId span, ByteSpan decoded);

 private:
  struct Straddler {
    std::string bytes;                   // of the whole header
    std::map<uint64_t, uint64_t> known;  // ranges of it that are filled: begin -> end
    bool IsWhole(uint64_t size) const;
    void Fill(uint64_t begin, ByteSpan piece);
  };

  Status CheckWindow(SpanId span, ByteSpan decoded) const;
  Status CheckHeader(const MemberHeader& header, ByteSpan blocks) const;
  Status CheckEnd(UncompressedRange range, ByteSpan decoded) const;
  Status CheckStraddler(uint64_t index, const MemberHeader& header, SpanId span, UncompressedRange range,
                        ByteSpan decoded);

  const std::shared_ptr<const LayerTable> table_;
  const ReadHeaderBytes read_header_bytes_;
  const UncompressedRange end_block_;  // what follows the last member: it must say that there is no further one
  Mutex mutex_;                        // read_header_bytes_ is called without it
  std::unordered_map<uint64_t, Straddler> straddlers_ SOCI_GUARDED_BY(mutex_);  // by index of header
};

}  // namespace soci
