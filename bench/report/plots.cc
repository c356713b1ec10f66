#include "bench/report/plots.h"

#include <algorithm>
#include <charconv>

#include "bench/report/chart.h"
#include "bench/report/timeline.h"

namespace soci::bench {

std::string DrawBytesOverTime(const ScenarioView& view) {
  Chart chart{"bytes over time", "seconds since the pull request", "MB from the registry", Scale::Kind::kLinear, 0, {}};
  for (size_t i = 0; i < view.modes.size(); ++i) {
    Series series{view.modes[i].mode, StrokeOf(view, i), {}, false};
    for (const ByteSample& sample : view.modes[i].bytes_over_time) {
      const double megabytes = static_cast<double>(sample.bytes) / 1e6;
      series.samples.push_back({sample.seconds, megabytes, megabytes, megabytes});
    }
    chart.series.push_back(std::move(series));
  }
  return Draw(chart);
}

std::string DrawReadLatency(const ScenarioView& view) {
  constexpr int kSteps = 200;
  Chart chart{"latency of reads",
              "milliseconds, logarithmic",
              "% of the reads answered within",
              Scale::Kind::kLogarithmic,
              100,
              {}};
  for (size_t i = 0; i < view.modes.size(); ++i) {
    std::vector<double> sorted = view.modes[i].read_milliseconds;
    std::sort(sorted.begin(), sorted.end());
    Series series{view.modes[i].mode, StrokeOf(view, i), {}, false};
    // One above the other, so that labels of curves that lie together can be read.
    series.label_share = 0.85 - 0.7 * static_cast<double>(i) / static_cast<double>(view.modes.size());
    for (int step = 0; step <= kSteps && !sorted.empty(); ++step) {
      const double share = static_cast<double>(step) / kSteps;
      const double value = sorted[static_cast<size_t>(share * static_cast<double>(sorted.size() - 1))];
      series.samples.push_back({std::max(value, 0.001), share * 100, share * 100, share * 100});
    }
    chart.series.push_back(std::move(series));
  }
  return Draw(chart);
}

std::optional<SweepName> ParseSweepName(const std::string& scenario) {
  const size_t space = scenario.rfind(' ');
  if (space == std::string::npos || scenario.empty() || scenario.back() != '%') return std::nullopt;
  SweepName sweep{scenario.substr(0, space), 0};
  const char* end = scenario.data() + scenario.size() - 1;
  const auto parsed = std::from_chars(scenario.data() + space + 1, end, sweep.percent);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return sweep;
}

std::string DrawSweep(const std::string& name, const std::vector<ScenarioView>& views) {
  Chart chart{name, "% of the bytes read", "seconds until the work is finished", Scale::Kind::kLinear, 0, {}};
  for (const ScenarioView& view : views) {
    const auto sweep = ParseSweepName(view.name);
    if (!sweep || sweep->name != name) continue;
    for (size_t i = 0; i < view.modes.size(); ++i) {
      const PointView* point = view.modes[i].FindPoint("work finished");
      if (point == nullptr) continue;
      auto series = std::find_if(chart.series.begin(), chart.series.end(),
                                 [&](const Series& item) { return item.label == view.modes[i].mode; });
      if (series == chart.series.end()) {
        series = chart.series.insert(series, {view.modes[i].mode, StrokeOf(view, i), {}, true});
      }
      series->samples.push_back({sweep->percent, point->seconds.median, point->seconds.min, point->seconds.max});
    }
  }
  for (Series& series : chart.series) {
    std::sort(series.samples.begin(), series.samples.end(), [](const auto& a, const auto& b) { return a.x < b.x; });
  }
  return Draw(chart);
}

}  // namespace soci::bench
