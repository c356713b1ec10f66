#include "bench/report/tables.h"

#include <algorithm>
#include <functional>

namespace soci::bench {
namespace {

std::vector<std::string> Head(std::string corner, const ScenarioView& view) {
  std::vector<std::string> head = {std::move(corner)};
  for (const ModeView& mode : view.modes) head.push_back(OneLine(mode.mode));
  return head;
}

Table PointsByModes(std::string corner, const ScenarioView& view,
                    const std::function<std::string(const PointView&)>& cell) {
  Table table;
  table.Add(Head(std::move(corner), view));
  for (const std::string& name : view.points) {
    std::vector<std::string> row = {OneLine(name)};
    for (const ModeView& mode : view.modes) {
      const PointView* point = mode.FindPoint(name);
      row.push_back(point != nullptr ? cell(*point) : mode.runs == 0 ? "failed" : "");
    }
    table.Add(std::move(row));
  }
  return table;
}

bool AsksARegistry(const ScenarioView& view) {
  return std::any_of(view.modes.begin(), view.modes.end(), [](const ModeView& mode) {
    return std::any_of(mode.points.begin(), mode.points.end(),
                       [](const PointView& point) { return point.requests.max > 0; });
  });
}

bool HasAPull(const ScenarioView& view) {
  return std::find(view.points.begin(), view.points.end(), "snapshotter ready") != view.points.end();
}

}  // namespace

Table TimeTable(const ScenarioView& view) {
  return PointsByModes(HasAPull(view) ? "since the pull request" : "since the start", view,
                       [](const PointView& point) { return Spread(point.seconds, Unit::kSeconds); });
}

Table HostTable(const ScenarioView& view) {
  Table table;
  table.Add(Head("of the hosts that began together", view));
  for (const std::string& name : view.points) {
    std::vector<std::string> row = {OneLine(name)};
    bool any = false;
    for (const ModeView& mode : view.modes) {
      const auto point = std::find_if(mode.host_points.begin(), mode.host_points.end(),
                                      [&](const PointView& one) { return one.name == name; });
      const bool has = point != mode.host_points.end();
      any = any || has;
      row.push_back(has ? Spread(point->seconds, Unit::kSeconds) : "");
    }
    if (any) table.Add(std::move(row));
  }
  return table;
}

Table DownloadTable(const ScenarioView& view) {
  Table table;
  if (!(view.plain_download_seconds > 0)) return table;
  table.Add(Head("time : plain download", view));
  std::vector<std::string> row = {"fully local : " + Quantity(view.plain_download_seconds, Unit::kSeconds)};
  bool any = false;
  for (const ModeView& mode : view.modes) {
    const PointView* point = mode.FindPoint("fully local");
    const bool has = point != nullptr && mode.role != Role::kFloor;
    any = any || has;
    row.push_back(has ? RatioText(point->seconds.median / view.plain_download_seconds) : "");
  }
  if (any) table.Add(std::move(row));
  return table;
}

Table TrafficTable(const ScenarioView& view) {
  if (!AsksARegistry(view)) return {};  // not counted, or nothing to count
  return PointsByModes("bytes / requests / connections", view, [](const PointView& point) {
    return Bytes(point.bytes.median) + " / " + Quantity(point.requests.median, Unit::kCount) + " / " +
           Quantity(point.connections.median, Unit::kCount);
  });
}

// Others are columns; ours, of which there may be several too, are rows, or seven modes would make twelve columns.
Table RatioTable(const ScenarioView& view) {
  std::vector<std::string> ours, others;
  for (const Ratio& ratio : view.ratios) {
    if (std::find(ours.begin(), ours.end(), ratio.ours) == ours.end()) ours.push_back(ratio.ours);
    if (std::find(others.begin(), others.end(), ratio.other) == others.end()) others.push_back(ratio.other);
  }
  Table table;
  std::vector<std::string> head = {"times, ours : other"};
  for (const std::string& other : others) head.push_back(OneLine((ours.size() == 1 ? ours[0] : "") + " : " + other));
  table.Add(std::move(head));
  for (const std::string& point : view.points) {
    for (const std::string& mode : ours) {
      std::vector<std::string> row = {OneLine(ours.size() == 1 ? point : point + ", " + mode)};
      bool any = false;
      for (const std::string& other : others) {
        const Ratio* ratio = view.FindRatio(point, mode, other);
        any = any || ratio != nullptr;
        row.push_back(ratio == nullptr ? "" : ratio->overlap ? "no difference" : RatioText(ratio->ours_by_other));
      }
      if (any) table.Add(std::move(row));
    }
  }
  return table;
}

Table FigureTable(const ScenarioView& view) {
  Table table;
  table.Add(Head("of the whole run", view));
  for (const std::string& name : view.figures) {
    const bool of_ours = name.rfind("soci_", 0) == 0;  // a metric, by its name
    std::string label = OneLine(name);
    if (!of_ours) std::replace(label.begin(), label.end(), '_', ' ');
    std::vector<std::string> row = {label};
    bool any = false;
    for (const ModeView& mode : view.modes) {
      const Figure* figure = mode.FindFigure(name);
      const bool has = figure != nullptr && figure->value.count > 0;
      // That a program counted no failed reads is what it was run for.
      const bool of_the_work = figure != nullptr && figure->unit == Unit::kCount && !of_ours;
      any = any || (has && (figure->value.max != 0 || of_the_work));
      row.push_back(has ? Spread(figure->value, figure->unit) : "");
    }
    if (any) table.Add(std::move(row));
  }
  return table;
}

Table ReadTable(const ScenarioView& view) {
  Table table;
  table.Add(Head("read latency", view));
  for (const auto& [name, share] :
       {std::pair("median", 0.5), {"90 %", 0.9}, {"99 %", 0.99}, {"99.9 %", 0.999}, {"longest", 1.0}}) {
    std::vector<std::string> row = {name};
    bool any = false;
    for (const ModeView& mode : view.modes) {
      const auto value = Percentile(mode.read_milliseconds, share);
      any = any || value;
      row.push_back(value ? Quantity(*value, Unit::kMilliseconds) : "");
    }
    if (any) table.Add(std::move(row));
  }
  return table;
}

}  // namespace soci::bench
