#include "bench/report/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/report/table.h"
#include "bench/report/terminal.h"
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

std::string Compare(const Scenario& a, const Scenario& b) {
  const ScenarioView view_a = MakeView(a), view_b = MakeView(b);
  std::string text = OneLine(view_a.Title()) + "\n";
  if (const std::string differs = WhatDiffers(a, b); !differs.empty()) {
    return text + "  not compared: " + OneLine(differs) + "\n";
  }
  Table table;
  table.Add({"mode, point", "A", "B", "B : A", ""});
  for (const ModeView& mode_a : view_a.modes) {
    const ModeView* mode_b = ModeNamed(view_b, mode_a.mode);
    if (mode_b == nullptr) {
      text += OneLine(fmt::format("  {}: only in A", mode_a.mode)) + "\n";
      continue;
    }
    for (const PointView& point_a : mode_a.points) {
      const PointView* point_b = mode_b->FindPoint(point_a.name);
      if (point_b == nullptr) continue;
      table.Add({OneLine(mode_a.mode + ", " + point_a.name), Spread(point_a.seconds, Unit::kSeconds),
                 Spread(point_b->seconds, Unit::kSeconds),
                 ThreeDigits(point_b->seconds.median / point_a.seconds.median),
                 Verdict(point_a.seconds, point_b->seconds)});
    }
  }
  for (const ModeView& mode_b : view_b.modes) {
    if (ModeNamed(view_a, mode_b.mode) == nullptr) text += OneLine(fmt::format("  {}: only in B", mode_b.mode)) + "\n";
  }
  return table.empty() ? text + "  nothing in common\n" : text + table.ToText();
}

std::string Line(const char* which, const Environment& environment) {
  return OneLine(fmt::format("{}: {}, commit {}; {}", which, environment.date, environment.commit,
                             MachineText(environment))) +
         "\n";
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
  std::string text = Line("A", a.environment) + Line("B", b.environment);
  if (MachineText(a.environment) != MachineText(b.environment)) text += "The machines differ: times do not compare.\n";
  for (const Scenario& scenario : a.scenarios) {
    const Scenario* other = Counterpart(b, scenario);
    text += "\n" + (other != nullptr ? Compare(scenario, *other) : OneLine(scenario.name + ": only in A") + "\n");
  }
  for (const Scenario& scenario : b.scenarios) {
    if (Counterpart(a, scenario) == nullptr) text += "\n" + OneLine(scenario.name + ": only in B") + "\n";
  }
  return text;
}

}  // namespace soci::bench
