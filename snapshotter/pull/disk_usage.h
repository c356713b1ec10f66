// What a folder takes on disk, as du counts it: allocated blocks, a hard-linked file once, one file system only.
#pragma once

#include <string>

#include "indexer/base/result.h"
#include "snapshotter/pull/layer_provider.h"

namespace soci {

// Files that vanish meanwhile are not counted. A missing folder takes nothing.
Result<LayerUsage> DiskUsage(const std::string& folder);

}  // namespace soci
