// What `soci-snapshotter status` shows: per image and layer whether it is lazy, being filled, sealed or deferred, and
// why; and how its replay goes. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "indexer/base/result.h"
#include "snapshotter/pull/layer_report.h"
#include "snapshotter/pull/recent_deferrals.h"
#include "snapshotter/replay/replay_report.h"

namespace soci {

// One JSON document on one line.
std::string StatusJson(const std::vector<LayerReport>& layers, const std::vector<Deferral>& deferrals,
                       const std::vector<ReplayReport>& replays = {});

// The same for people. kInvalidArgument if it is not such a document.
Result<std::string> StatusText(std::string_view json);

}  // namespace soci
