// From a layer's files to their paths and back. Pure; any thread.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "indexer/table/layer_table.h"

namespace soci {

// One path of each, without a slash in front; what cannot be reached is left out. Walks the whole tree.
std::map<InodeId, std::string> PathsOf(const LayerTable& table, const std::set<InodeId>& files);

// The regular file at the path. Every component is looked up by its name in this layer: no links are followed.
std::optional<InodeAttributes> FindFile(const LayerTable& table, std::string_view path);

}  // namespace soci
