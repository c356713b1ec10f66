#include "bench/result/statistics.h"

#include <algorithm>
#include <cmath>

namespace soci::bench {
namespace {

std::vector<double> SortedFinite(std::vector<double> samples) {
  samples.erase(std::remove_if(samples.begin(), samples.end(), [](double sample) { return !std::isfinite(sample); }),
                samples.end());
  std::sort(samples.begin(), samples.end());
  return samples;
}

double AtShare(const std::vector<double>& sorted, double share) {
  const double rank = std::clamp(share, 0.0, 1.0) * static_cast<double>(sorted.size() - 1);
  const size_t below = static_cast<size_t>(rank);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (rank - static_cast<double>(below));
}

}  // namespace

std::optional<Summary> Summarise(std::vector<double> samples) {
  const std::vector<double> sorted = SortedFinite(std::move(samples));
  if (sorted.empty()) return std::nullopt;
  return Summary{sorted.size(), AtShare(sorted, 0.5), sorted.front(), sorted.back()};
}

std::optional<double> Percentile(std::vector<double> samples, double share) {
  const std::vector<double> sorted = SortedFinite(std::move(samples));
  if (sorted.empty() || !(share >= 0 && share <= 1)) return std::nullopt;
  return AtShare(sorted, share);
}

bool SpreadsOverlap(const Summary& a, const Summary& b) { return a.min <= b.max && b.min <= a.max; }

}  // namespace soci::bench
