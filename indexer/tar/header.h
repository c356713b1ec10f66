// One 512-byte header block: v7, ustar, PAX, STAR or GNU. Pure; any thread.
#pragma once

#include <cstddef>
#include <string_view>

#include "indexer/base/bytes.h"
#include "indexer/base/result.h"
#include "indexer/tar/entry.h"

namespace soci::tar {

inline constexpr size_t kBlockSize = 512;

// What the type byte of a header says. Members of other types than these cannot be indexed.
inline constexpr char kTypePaxHeader = 'x';
inline constexpr char kTypePaxGlobalHeader = 'g';
inline constexpr char kTypeGnuLongName = 'L';
inline constexpr char kTypeGnuLongLink = 'K';

struct Header {
  char type = 0;
  Entry entry;  // its header's own fields; type, ranges and pax are not filled
};

// kInvalidArgument for a wrong checksum or a number field that is no number.
Result<Header> ParseHeaderBlock(ByteSpan block);

// Whether members of this type have no data, whatever their size field says.
bool IsHeaderOnly(char type);
bool IsHeaderOnly(EntryType type);

// Text of a field: up to its first NUL.
std::string_view FieldText(std::string_view field);

// Rounded up to whole blocks.
constexpr uint64_t RoundToBlock(uint64_t size) { return (size + kBlockSize - 1) & ~uint64_t{kBlockSize - 1}; }

}  // namespace soci::tar
