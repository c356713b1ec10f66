// What a layer's members are at a list of paths, once the layer is unpacked. Pure.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "indexer/base/ranges.h"
#include "indexer/tar/entries.h"

namespace soci {

struct MemberAt {
  std::optional<UncompressedRange> content;  // of a regular file, in the tar; nothing for all else, whiteouts too
};

// Paths are clean (CleanPath), as are the names they are compared with. The last member of a name counts; hard links
// lead to their target's content, within the layer. What the layer does not have is left out. Reads the entries once,
// and again for each link of a chain of hard links, a few times at most.
std::map<std::string, MemberAt> FilesAt(const tar::Entries& entries, const std::set<std::string>& paths);

}  // namespace soci
