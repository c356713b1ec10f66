// The plots of a result beside the timeline, as inline SVG; "" where there is nothing to draw. Pure.
#pragma once

#include <string>
#include <vector>

#include "bench/report/view.h"

namespace soci::bench {

// Bytes that the registry sent by each moment, in each mode's median run.
std::string DrawBytesOverTime(const ScenarioView& view);
// Which share of the reads was answered within which time.
std::string DrawReadLatency(const ScenarioView& view);

// "density 5%" is the density sweep at 5.
struct SweepName {
  std::string name;
  double percent = 0;
};
std::optional<SweepName> ParseSweepName(const std::string& scenario);

// Time until the work is finished by percent, of scenarios of one sweep.
std::string DrawSweep(const std::string& name, const std::vector<ScenarioView>& views);

}  // namespace soci::bench
