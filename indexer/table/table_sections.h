// The sections of a table as typed views, and the one pass that makes every later look-up plain arithmetic.
//
// Pure; any thread. The views live as long as the bytes.
#pragma once

#include <span>
#include <string_view>

#include "indexer/base/bytes.h"
#include "indexer/base/result.h"
#include "indexer/table/table_format.h"

namespace soci::table {

struct Sections {
  const FileHeader* header = nullptr;
  std::span<const InodeRecord> inodes;
  std::span<const ChildRecord> children;
  std::span<const XattrRecord> xattrs;
  std::span<const SpanRecord> spans;
  std::span<const ContentRecord> contents;
  std::span<const HeaderRecord> headers;
  std::string_view strings;
  std::string_view windows;

  std::string_view NameOf(const ChildRecord& child) const { return strings.substr(child.name, child.name_length); }
  // The records of a directory.
  std::span<const ChildRecord> ChildrenOf(const InodeRecord& directory) const {
    return children.subspan(directory.position, directory.size);
  }
};

// Finds the sections and compares the checksums. kInvalidArgument: not a table; kFailedPrecondition: of another
// version; kDataLoss: damaged. `bytes` begin at a multiple of 8.
Result<Sections> FindSections(ByteSpan bytes);

// Follows every number in the records once: nothing points outside, directories make one tree numbered as layout 1
// says, names are sorted and possible, spans and members are in order. kInvalidArgument naming what is wrong.
Status CheckSections(const Sections& sections);

}  // namespace soci::table
