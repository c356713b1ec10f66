#include "bench/report/view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace soci::bench {
namespace {

void AddOnce(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

// The summary of one number of each run that has it.
Summary Over(const std::vector<const Run*>& runs, const std::function<std::optional<double>(const Run&)>& number) {
  std::vector<double> samples;
  for (const Run* run : runs) {
    if (const auto sample = number(*run)) samples.push_back(*sample);
  }
  return Summarise(std::move(samples)).value_or(Summary{});
}

const Point* FindPointOf(const Run& run, const std::string& name) {
  const auto found =
      std::find_if(run.points.begin(), run.points.end(), [&](const Point& point) { return point.name == name; });
  return found == run.points.end() ? nullptr : &*found;
}

Summary OverPoint(const std::vector<const Run*>& runs, const std::string& name,
                  const std::function<double(const Point&)>& number) {
  return Over(runs, [&](const Run& run) -> std::optional<double> {
    const Point* point = FindPointOf(run, name);
    if (point == nullptr) return std::nullopt;
    return number(*point);
  });
}

std::vector<PointView> PointsOf(const std::vector<const Run*>& runs) {
  std::vector<std::string> names;
  for (const Run* run : runs) {
    for (const Point& point : run->points) AddOnce(names, point.name);
  }
  std::vector<PointView> points;
  for (const std::string& name : names) {
    PointView view{name, OverPoint(runs, name, [](const Point& p) { return p.seconds; }),
                   OverPoint(runs, name, [](const Point& p) { return static_cast<double>(p.traffic.bytes); }),
                   OverPoint(runs, name, [](const Point& p) { return static_cast<double>(p.traffic.requests); }),
                   OverPoint(runs, name, [](const Point& p) { return static_cast<double>(p.traffic.connections); })};
    if (view.seconds.count > 0) points.push_back(std::move(view));
  }
  return points;
}

std::vector<PointView> HostPointsOf(const std::vector<const Run*>& runs) {
  std::vector<Run> hosts;
  for (const Run* run : runs) {
    for (const HostRun& host : run->hosts) hosts.emplace_back().points = host.points;
  }
  std::vector<const Run*> pointers;
  for (const Run& host : hosts) pointers.push_back(&host);
  return PointsOf(pointers);
}

std::vector<Figure> FiguresOf(const std::vector<const Run*>& runs) {
  struct Resource {
    const char* name;
    Unit unit;
    double (*number)(const Resources&);
  };
  static constexpr Resource kResources[] = {
      {"daemon CPU", Unit::kSeconds, [](const Resources& r) { return r.daemon_cpu_seconds; }},
      {"client CPU", Unit::kSeconds, [](const Resources& r) { return r.client_cpu_seconds; }},
      {"peak memory, anonymous", Unit::kBytes, [](const Resources& r) { return double(r.peak_anonymous_bytes); }},
      {"peak memory, files", Unit::kBytes, [](const Resources& r) { return double(r.peak_file_bytes); }},
      {"written to disk", Unit::kBytes, [](const Resources& r) { return double(r.disk_written_bytes); }}};
  std::vector<Figure> figures;
  for (const Resource& resource : kResources) {
    figures.push_back(
        {resource.name, resource.unit, Over(runs, [&](const Run& run) { return resource.number(run.resources); })});
  }
  std::vector<std::string> counts;
  for (const Run* run : runs) {
    for (const auto& [name, unused] : run->counts) AddOnce(counts, name);
  }
  for (const std::string& name : counts) {
    const Unit unit = name.find("_bytes") == std::string::npos ? Unit::kCount : Unit::kBytes;
    figures.push_back({name, unit, Over(runs, [&](const Run& run) -> std::optional<double> {
                         const auto found = run.counts.find(name);
                         if (found == run.counts.end()) return std::nullopt;
                         return found->second;
                       })});
  }
  return figures;
}

// The run that took the median time, or the one just before it.
const Run* TypicalOf(std::vector<const Run*> runs) {
  if (runs.empty()) return nullptr;
  const auto length = [](const Run* run) {
    const double seconds = run->points.empty() ? 0 : run->points.back().seconds;
    return std::isfinite(seconds) ? seconds : 0;
  };
  std::sort(runs.begin(), runs.end(), [&](const Run* a, const Run* b) { return length(a) < length(b); });
  return runs[(runs.size() - 1) / 2];
}

ModeView ViewOf(const Scenario& scenario, const std::string& mode) {
  ModeView view;
  view.mode = mode;
  view.role = RoleOf(mode);
  std::vector<const Run*> runs;
  for (const Run& run : scenario.runs) {
    if (run.mode != mode) continue;
    if (run.error.empty()) {
      runs.push_back(&run);
      view.read_milliseconds.insert(view.read_milliseconds.end(), run.read_milliseconds.begin(),
                                    run.read_milliseconds.end());
    } else {
      view.errors.push_back(fmt::format("run {}: {}", run.repeat, run.error));
    }
  }
  view.runs = runs.size();
  view.points = PointsOf(runs);
  view.host_points = HostPointsOf(runs);
  if (!runs.empty()) view.figures = FiguresOf(runs);
  if (const Run* typical = TypicalOf(runs)) view.bytes_over_time = typical->bytes_over_time;
  return view;
}

std::vector<Ratio> RatiosOf(const ScenarioView& view) {
  std::vector<Ratio> ratios;
  for (const std::string& name : view.points) {
    for (const ModeView& ours : view.modes) {
      const PointView* our_point = ours.role == Role::kOurs ? ours.FindPoint(name) : nullptr;
      if (our_point == nullptr) continue;
      for (const ModeView& other : view.modes) {
        const PointView* point = other.role != Role::kOurs ? other.FindPoint(name) : nullptr;
        if (point == nullptr || !(point->seconds.median >= kLeastTime)) continue;
        ratios.push_back({name, ours.mode, other.mode, other.role, our_point->seconds.median / point->seconds.median,
                          SpreadsOverlap(our_point->seconds, point->seconds)});
      }
    }
  }
  return ratios;
}

std::string AboutOf(const Scenario& scenario, const std::vector<ModeView>& modes) {
  std::string about = "image " + scenario.image;
  if (scenario.image_bytes > 0) {
    about += " (" + Bytes(static_cast<double>(scenario.image_bytes));
    if (scenario.image_unpacked_bytes > 0) {
      about += ", " + Bytes(static_cast<double>(scenario.image_unpacked_bytes)) + " unpacked";
    }
    about += ")";
  }
  if (!scenario.link.empty() && scenario.link != "none") about += ", link " + scenario.link;
  if (!scenario.workload.empty()) about += ", work " + scenario.workload;
  size_t hosts = 1;
  for (const Run& run : scenario.runs) hosts = std::max(hosts, run.hosts.size());
  if (hosts > 1) about += fmt::format(", {} hosts at once", hosts);
  size_t least = SIZE_MAX, most = 0;
  for (const ModeView& mode : modes) {
    least = std::min(least, mode.runs + mode.errors.size());
    most = std::max(most, mode.runs + mode.errors.size());
  }
  if (modes.empty()) return about + ", no runs";
  return about + (least == most ? fmt::format(", {} run{} of each mode", most, most == 1 ? "" : "s")
                                : fmt::format(", {} to {} runs of each mode", least, most));
}

}  // namespace

Role RoleOf(std::string_view mode) {
  const std::string_view word = mode.substr(0, mode.find_first_of(" ,+"));
  if (word == "local") return Role::kFloor;
  return word == "lazy" || word == "full" || word == "soci-index" ? Role::kOurs : Role::kTheirs;
}

const PointView* ModeView::FindPoint(std::string_view name) const {
  const auto found = std::find_if(points.begin(), points.end(), [&](const auto& point) { return point.name == name; });
  return found == points.end() ? nullptr : &*found;
}

const Figure* ModeView::FindFigure(std::string_view name) const {
  const auto found =
      std::find_if(figures.begin(), figures.end(), [&](const auto& figure) { return figure.name == name; });
  return found == figures.end() ? nullptr : &*found;
}

const Ratio* ScenarioView::FindRatio(std::string_view point, std::string_view ours, std::string_view other) const {
  const auto found = std::find_if(ratios.begin(), ratios.end(), [&](const Ratio& ratio) {
    return ratio.point == point && ratio.ours == ours && ratio.other == other;
  });
  return found == ratios.end() ? nullptr : &*found;
}

std::string ScenarioView::MainPoint() const {
  const auto has_ratio = [&](const std::string& point) {
    return std::any_of(ratios.begin(), ratios.end(), [&](const Ratio& ratio) { return ratio.point == point; });
  };
  if (has_ratio("ready")) return "ready";
  const auto last = std::find_if(points.rbegin(), points.rend(), has_ratio);
  return last == points.rend() ? "" : *last;
}

std::vector<std::string> ScenarioView::Headlines() const {
  const std::string point = MainPoint();
  std::vector<std::string> lines;
  for (const ModeView& mode : modes) {
    std::string others;
    for (const Ratio& ratio : ratios) {
      if (ratio.point != point || ratio.ours != mode.mode) continue;
      others += others.empty() ? "" : ", ";
      if (ratio.overlap) {
        others += "no difference shown from " + ratio.other;
      } else if (ratio.ours_by_other < 1) {
        others += ThreeDigits(1 / ratio.ours_by_other) + " times as fast as " + ratio.other;
      } else {
        others += ThreeDigits(ratio.ours_by_other) + " times as long as " + ratio.other;
      }
    }
    if (others.empty()) continue;
    lines.push_back(fmt::format("{}: {} after {}, {}.", mode.mode, point,
                                Quantity(mode.FindPoint(point)->seconds.median, Unit::kSeconds), others));
  }
  for (const ModeView& mode : modes) {
    const Figure* failed = mode.FindFigure("failed_reads");
    if (failed == nullptr || failed->value.count == 0) continue;
    lines.push_back(fmt::format("{}: {} reads failed.", mode.mode, Spread(failed->value, Unit::kCount)));
  }
  return lines;
}

ScenarioView MakeView(const Scenario& scenario) {
  ScenarioView view;
  view.name = scenario.name;
  std::vector<std::string> modes;
  for (const Run& run : scenario.runs) AddOnce(modes, run.mode);
  for (const std::string& mode : modes) {
    view.modes.push_back(ViewOf(scenario, mode));
    for (const PointView& point : view.modes.back().points) AddOnce(view.points, point.name);
    for (const Figure& figure : view.modes.back().figures) AddOnce(view.figures, figure.name);
  }
  view.about = AboutOf(scenario, view.modes);
  view.ratios = RatiosOf(view);
  view.plain_download_seconds = scenario.plain_download_seconds;
  view.note = scenario.note;
  return view;
}

}  // namespace soci::bench
