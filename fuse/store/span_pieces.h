// Cuts a span into what belongs to visible files and what does not (headers, padding, replaced members: the residue).
//
// Pure; any thread.
#pragma once

#include <functional>

#include "indexer/base/ranges.h"
#include "indexer/base/result.h"
#include "indexer/table/layer_table.h"

namespace soci {

struct SpanPiece {
  InodeId file{};           // 0: residue
  UncompressedRange range;  // in the tar
  UncompressedRange whole;  // all of the file's data; the same as `range` for residue

  bool is_residue() const { return ToNumber(file) == 0; }
};

// Calls `visit` for every piece of `range`, in order, without gap. Ends with the first status that is not ok.
Status ForEachPiece(const LayerTable& table, UncompressedRange range,
                    const std::function<Status(const SpanPiece&)>& visit);

// Bytes of `range` that are residue.
uint64_t ResidueSize(const LayerTable& table, UncompressedRange range);

}  // namespace soci
