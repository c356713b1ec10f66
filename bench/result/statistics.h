// What samples say: median, extremes, percentiles, and whether two sets of them differ at all.
//
// Pure. Samples that are not finite are left out. Percentiles are interpolated between the two nearest samples; nothing
// assumes a distribution, as a handful of repeats has none.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace soci::bench {

struct Summary {
  size_t count = 0;
  double median = 0, min = 0, max = 0;
};

// Nothing if there is no sample.
std::optional<Summary> Summarise(std::vector<double> samples);

// `share` from 0 (the least) to 1 (the greatest).
std::optional<double> Percentile(std::vector<double> samples, double share);

// The spreads, each from its least to its greatest, have a value in common: no difference is shown.
bool SpreadsOverlap(const Summary& a, const Summary& b);

}  // namespace soci::bench
