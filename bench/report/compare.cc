#include "bench/report/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/report/html.h"
#include "bench/report/plots.h"
#include "bench/report/table.h"
#include "bench/report/terminal.h"
#include "bench/report/timeline.h"
#include "bench/report/view.h"

namespace soci::bench {
namespace {

const ModeView* ModeNamed(const ScenarioView& view, const std::string& mode) {
  const auto found =
      std::find_if(view.modes.begin(), view.modes.end(), [&](const ModeView& item) { return item.mode == mode; });
  return found == view.modes.end() ? nullptr : &*found;
}

std::string Verdict(const Summary& a, const Summary& b) {
  if (SpreadsOverlap(a, b)) return "no difference shown";
  const double ratio = b.median / a.median;
  return ratio < 1 ? ThreeDigits(1 / ratio) + " times as fast" : ThreeDigits(ratio) + " times as long";
}

// Of one scenario: what can only be said, and what stands side by side.
struct Comparison {
  std::string title;
  std::vector<std::string> remarks;
  Table table;
  Scenario both;  // the runs of either, with modes "lazy A" and "lazy B"; without runs if they cannot be compared
};

Table PointTable(const ScenarioView& view_a, const ScenarioView& view_b) {
  Table table;
  table.Add({"mode, point", "A", "B", "B : A", ""});
  for (const ModeView& mode_a : view_a.modes) {
    const ModeView* mode_b = ModeNamed(view_b, mode_a.mode);
    if (mode_b == nullptr) continue;
    for (const PointView& point_a : mode_a.points) {
      const PointView* point_b = mode_b->FindPoint(point_a.name);
      if (point_b == nullptr) continue;
      if (std::max(point_a.seconds.median, point_b->seconds.median) < kLeastTime) continue;
      table.Add({OneLine(mode_a.mode + ", " + point_a.name), Spread(point_a.seconds, Unit::kSeconds),
                 Spread(point_b->seconds, Unit::kSeconds),
                 ThreeDigits(point_b->seconds.median / point_a.seconds.median),
                 Verdict(point_a.seconds, point_b->seconds)});
    }
  }
  return table;
}

Scenario Joined(const Scenario& a, const Scenario& b) {
  Scenario both = a;
  both.runs.clear();
  for (const auto& [scenario, other, suffix] : {std::tuple(&a, &b, " A"), std::tuple(&b, &a, " B")}) {
    for (const Run& run : scenario->runs) {
      const bool in_both = std::any_of(other->runs.begin(), other->runs.end(),
                                       [&mode = run.mode](const Run& one) { return one.mode == mode; });
      if (!in_both) continue;
      both.runs.push_back(run);
      both.runs.back().mode += suffix;
    }
  }
  std::stable_sort(both.runs.begin(), both.runs.end(),
                   [](const Run& one, const Run& two) { return one.mode < two.mode; });
  return both;
}

Comparison Compare(const Scenario& a, const Scenario& b) {
  const ScenarioView view_a = MakeView(a), view_b = MakeView(b);
  Comparison comparison{view_a.Title(), {}, {}, {}};
  if (const std::string differs = WhatDiffers(a, b); !differs.empty()) {
    comparison.remarks.push_back("not compared: " + differs);
    return comparison;
  }
  for (const ModeView& mode : view_a.modes) {
    if (ModeNamed(view_b, mode.mode) == nullptr) comparison.remarks.push_back(mode.mode + ": only in A");
  }
  for (const ModeView& mode : view_b.modes) {
    if (ModeNamed(view_a, mode.mode) == nullptr) comparison.remarks.push_back(mode.mode + ": only in B");
  }
  comparison.table = PointTable(view_a, view_b);
  if (comparison.table.empty()) comparison.remarks.emplace_back("nothing in common");
  comparison.both = Joined(a, b);
  return comparison;
}

std::vector<Comparison> CompareAll(const Result& a, const Result& b) {
  std::vector<Comparison> all;
  for (const Scenario& scenario : a.scenarios) {
    const Scenario* other = Counterpart(b, scenario);
    all.push_back(other != nullptr ? Compare(scenario, *other) : Comparison{scenario.name + ": only in A", {}, {}, {}});
  }
  for (const Scenario& scenario : b.scenarios) {
    if (Counterpart(a, scenario) == nullptr) all.push_back({scenario.name + ": only in B", {}, {}, {}});
  }
  return all;
}

// Which results they are, and whether they can be compared at all.
std::vector<std::string> About(const Result& a, const Result& b) {
  std::vector<std::string> lines;
  for (const auto& [which, environment] : {std::pair("A", a.environment), {"B", b.environment}}) {
    lines.push_back(
        fmt::format("{}: {}, commit {}; {}", which, environment.date, environment.commit, MachineText(environment)));
  }
  if (MachineText(a.environment) != MachineText(b.environment)) {
    lines.emplace_back("The machines differ: times do not compare.");
  }
  return lines;
}

}  // namespace

const Scenario* Counterpart(const Result& result, const Scenario& scenario) {
  const Scenario* namesake = nullptr;
  for (const Scenario& other : result.scenarios) {
    if (other.name != scenario.name) continue;
    if (other.link == scenario.link) return &other;
    if (namesake == nullptr) namesake = &other;
  }
  return namesake;
}

std::string WhatDiffers(const Scenario& a, const Scenario& b) {
  for (const auto& [what, one, other] : {std::tuple("image", a.image, b.image), std::tuple("link", a.link, b.link),
                                         std::tuple("work", a.workload, b.workload)}) {
    if (one != other) return fmt::format("{} {} and {}", what, one, other);
  }
  if (a.image_bytes != b.image_bytes) {
    return fmt::format("an image of {} and of {} bytes", a.image_bytes, b.image_bytes);
  }
  return "";
}

std::string CompareText(const Result& a, const Result& b) {
  std::string text;
  for (const std::string& line : About(a, b)) text += OneLine(line) + "\n";
  for (const Comparison& comparison : CompareAll(a, b)) {
    text += "\n" + OneLine(comparison.title) + "\n";
    for (const std::string& remark : comparison.remarks) text += "  " + OneLine(remark) + "\n";
    if (!comparison.table.empty()) text += comparison.table.ToText();
  }
  return text;
}

std::string CompareHtml(const Result& a, const Result& b) {
  std::string html;
  for (const Comparison& comparison : CompareAll(a, b)) {
    const size_t colon = comparison.title.find(": ");
    html += fmt::format("<section>\n<h2>{}</h2>\n<p class=\"about\">{}</p>\n",
                        EscapeHtml(comparison.title.substr(0, colon)), EscapeHtml(comparison.title.substr(colon + 2)));
    for (const std::string& remark : comparison.remarks) html += fmt::format("<p>{}</p>\n", EscapeHtml(remark));
    html += HtmlTable(comparison.table);
    const ScenarioView view = MakeView(comparison.both);
    html += HtmlPlot("When each point is reached; bars below the dots show the spread", DrawTimeline(view));
    html += HtmlPlot("Bytes from the registry over time, median run", DrawBytesOverTime(view));
    html += HtmlPlot("How long single reads took", DrawReadLatency(view)) + "</section>\n";
  }
  return HtmlPage("soci-bench, two results", About(a, b), html);
}

}  // namespace soci::bench
