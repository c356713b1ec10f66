// What `soci-snapshotter status` shows: per image and layer whether it is lazy, being filled, sealed or deferred, and
// why; how its replay goes; and how full the cache is, if it has a limit. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fuse/store/cache_limit.h"
#include "indexer/base/result.h"
#include "snapshotter/pull/layer_report.h"
#include "snapshotter/pull/recent_deferrals.h"
#include "snapshotter/replay/replay_report.h"

namespace soci {

// One JSON document on one line.
std::string StatusJson(const std::vector<LayerReport>& layers, const std::vector<Deferral>& deferrals,
                       const std::vector<ReplayReport>& replays = {},
                       const std::optional<CacheLimit::Figures>& cache = std::nullopt);

// The same for people. kInvalidArgument if it is not such a document.
Result<std::string> StatusText(std::string_view json);

}  // namespace soci
