// Sparse files of the PAX formats 0.0, 0.1 and 1.0. They are recognised and checked, because zTOCs are defined by a
// reader that does so; their holes are not filled, so a layer that holds one has no exact table.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "indexer/base/result.h"
#include "indexer/tar/entry.h"

namespace soci::tar {

inline constexpr std::string_view kSparseOffsetKey = "GNU.sparse.offset";
inline constexpr std::string_view kSparseNumBytesKey = "GNU.sparse.numbytes";
inline constexpr std::string_view kSparseMapKey = "GNU.sparse.map";

enum class SparseFormat { kNone, kMapInRecords, kMapInData };

// What the PAX records of a member make it.
SparseFormat SparseFormatOf(const std::map<std::string, std::string>& pax);

struct SparseRange {
  int64_t offset = 0;
  int64_t length = 0;
};

// The map of formats 0.0 and 0.1.
Result<std::vector<SparseRange>> SparseMapOfRecords(const std::map<std::string, std::string>& pax);

// The map of format 1.0, which stands in whole blocks before the data. Nothing if `blocks` does not hold all of it yet.
Result<std::optional<std::vector<SparseRange>>> SparseMapOfBlocks(std::string_view blocks);

// Whether the ranges are in order, apart, and inside a file of this size.
bool IsValidSparseMap(const std::vector<SparseRange>& map, int64_t file_size);

// Gives a sparse member the name and the logical size that its records tell.
Status ApplySparseRecords(Entry& entry);

}  // namespace soci::tar
