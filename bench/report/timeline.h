// Each mode's points in time as a row of labelled dots, one row under the other, over one axis of seconds. Pure.
#pragma once

#include <string>

#include "bench/report/svg.h"
#include "bench/report/view.h"

namespace soci::bench {

// The axis is logarithmic where the latest point lies far beyond the first. "" if there is nothing to draw.
std::string DrawTimeline(const ScenarioView& view);

// How the mode at that place of a scenario is drawn, in every plot of it.
Stroke StrokeOf(const ScenarioView& view, size_t mode);

}  // namespace soci::bench
