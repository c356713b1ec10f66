// Makes the layer table of a zTOC, and refuses a zTOC that contradicts itself. Pure; any thread.
//
// Tree rules are the snapshotter's of the format (docs/formats.md): paths cleaned, missing parents added, later members
// replace earlier ones, hard links resolved within the layer, whiteouts become what overlayfs understands.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "indexer/base/result.h"
#include "indexer/oci/digest.h"
#include "indexer/tar/entry.h"
#include "indexer/ztoc/ztoc.h"

namespace soci {

struct CompileOptions {
  bool disable_xattrs = false;  // the index says that the layer has none worth answering
};

// The table's bytes. kInvalidArgument, naming the entry or span, for a zTOC that is malformed or hostile.
Result<std::string> CompileTable(const ZtocView& ztoc, const oci::LayerDigest& layer,
                                 const CompileOptions& options = {});

// What a member's header says, in 16 bytes: name, type, size, link target, mode, owner, mtime, device numbers and
// xattrs. Compared when the header's span arrives, so that a false table is found out before that file is served from
// it.
std::array<std::byte, 16> MemberFingerprint(const tar::Entry& entry);

}  // namespace soci
