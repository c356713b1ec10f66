// Several hosts that pull and run at once, behind one link; and the place where each of a plan's hosts lives.
#pragma once

#include <functional>
#include <vector>

#include "bench/run/measured_run.h"

namespace soci::bench {

// Where a host of the plan lives: here, or in namespaces of its own if there is a hub or a disk to limit. Blocks
// until `act` is done there, on a thread of its own, and throws what it throws.
void OnHost(const RunPlan& plan, const std::function<void()>& act);

// The plan on so many hosts at once. Never throws, as MeasureRun.
Run MeasureGang(const RunPlan& plan, int hosts);

// The pure part of it: points are those of the host that is last, traffic and costs are those of all, and each host's
// points are kept.
Run MergeHosts(const std::vector<Run>& hosts);

}  // namespace soci::bench
