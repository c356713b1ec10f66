#include "bench/report/guard.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "bench/report/compare.h"
#include "bench/report/table.h"
#include "bench/report/view.h"
#include "bench/result/codec.h"

namespace soci::bench {
namespace {

struct Count {
  std::string name;
  Unit unit;
  Summary value;
};

// Connections are left out: how many are opened depends on who happens to wait.
std::vector<Count> CountsOf(const ModeView& mode) {
  std::vector<Count> counts;
  for (const PointView& point : mode.points) {
    counts.push_back({"requests until " + point.name, Unit::kCount, point.requests});
    counts.push_back({"bytes until " + point.name, Unit::kBytes, point.bytes});
  }
  for (const Figure& figure : mode.figures) {
    const bool is_time = figure.unit == Unit::kSeconds || figure.unit == Unit::kMilliseconds;
    const bool is_memory = figure.name.rfind("peak memory", 0) == 0;
    if (!is_time && !is_memory) counts.push_back({figure.name, figure.unit, figure.value});
  }
  return counts;
}

bool Fills(const ModeView& mode) {
  const Figure* spans = mode.FindFigure("soci_fetched_spans_total{class=\"fill\"}");
  return spans != nullptr && spans->value.max > 0;
}

bool BeginsWith(const std::string& name, std::string_view beginning) { return name.rfind(beginning, 0) == 0; }

// Why a count says more about the clock than about the product; "" if it does not. Where fill runs beside the work, how
// much has come by some point, and for whom, depends on how fast this machine happens to be.
std::string WhyUnsteady(const std::string& count, bool fills) {
  for (const char* beginning : {"soci_demand_joins_", "soci_overtaken_", "soci_hedged_", "soci_fetched_twice_"}) {
    if (BeginsWith(count, beginning)) return "a matter of time, not judged";
  }
  if (BeginsWith(count, "link_")) return "what was done to it, not judged";
  if (!fills || count == "bytes until fully local") return "";
  for (const char* beginning :
       {"requests until ", "bytes until ", "soci_demand_", "soci_fetched_", "written to disk"}) {
    if (BeginsWith(count, beginning)) return "filled meanwhile, not judged";
  }
  return "";
}

class Judge {
 public:
  explicit Judge(const GuardLimits& limits) : limits_(limits) {}

  void Scenarios(const Scenario& kept, const Scenario& now) {
    const ScenarioView kept_view = MakeView(kept), now_view = MakeView(now);
    verdict_.text += OneLine(now_view.Title()) + "\n";
    if (const std::string differs = WhatDiffers(kept, now); !differs.empty()) {
      verdict_.text += "  not compared: " + OneLine(differs) + "\n";
      return;
    }
    for (const ModeView& mode : kept_view.modes) {
      if (mode.role != Role::kOurs || mode.runs == 0) continue;
      const auto found = std::find_if(now_view.modes.begin(), now_view.modes.end(),
                                      [&](const ModeView& other) { return other.mode == mode.mode; });
      if (found == now_view.modes.end()) {
        verdict_.text += OneLine(fmt::format("  {}: not measured now", mode.mode)) + "\n";
      } else if (found->runs == 0) {
        Lose(fmt::format("{}, {}: every run failed; {}", now.name, mode.mode, found->errors.front()));
      } else {
        Modes(now.name, mode, *found);
      }
    }
  }

  GuardVerdict Finish() {
    for (const std::string& loss : verdict_.losses) verdict_.text += "LOSS " + loss + "\n";
    if (verdict_.compared == 0) verdict_.text += "nothing in common that could be compared\n";
    return std::move(verdict_);
  }
  void Say(const std::string& line) { verdict_.text += line + "\n"; }

 private:
  void Lose(const std::string& line) { verdict_.losses.push_back(OneLine(line)); }

  void Modes(const std::string& scenario, const ModeView& kept, const ModeView& now) {
    Table table;
    table.Add({kept.mode, "kept", "now", ""});
    const bool fills = Fills(kept) || Fills(now);
    const std::vector<Count> counts = CountsOf(now);
    for (const Count& was : CountsOf(kept)) {
      const auto is = std::find_if(counts.begin(), counts.end(), [&](const Count& c) { return c.name == was.name; });
      const std::string unsteady = WhyUnsteady(was.name, fills);
      if (is == counts.end() || is->value.count == 0) {
        if (was.value.count > 0 && unsteady.empty())
          Lose(fmt::format("{}, {}: {} is not counted any more", scenario, kept.mode, was.name));
        continue;
      }
      if (was.value.max == 0 && is->value.max == 0) continue;  // not measured
      table.Add({OneLine(was.name), Spread(was.value, was.unit), Spread(is->value, is->unit),
                 unsteady.empty() ? Compare(scenario, kept.mode, was, *is) : unsteady});
    }
    for (const PointView& point : kept.points) {
      const PointView* other = now.FindPoint(point.name);
      if (other == nullptr) continue;
      table.Add({OneLine("time until " + point.name), Spread(point.seconds, Unit::kSeconds),
                 Spread(other->seconds, Unit::kSeconds), "not judged"});
    }
    verdict_.text += table.ToText();
  }

  std::string Compare(const std::string& scenario, const std::string& mode, const Count& was, const Count& is) {
    const double before = was.value.median, after = is.value.median;
    if (was.value.max - was.value.min > limits_.steady * before) return "varies, not judged";
    ++verdict_.compared;
    if (after > before * (1 + limits_.most_loss)) {
      Lose(fmt::format("{}, {}: {} {}, was {}", scenario, mode, is.name, Quantity(after, is.unit),
                       Quantity(before, was.unit)));
      return "LOSS";
    }
    return after == before ? "same" : fmt::format("{:+.1f} %", (after / before - 1) * 100);
  }

  const GuardLimits limits_;
  GuardVerdict verdict_;
};

// The results of a folder, the newest first.
soci::Result<std::vector<Result>> ReadFolder(const std::string& path) {
  std::error_code error;
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  if (error) return absl::NotFoundError(fmt::format("{}: {}", path, error.message()));
  std::sort(files.rbegin(), files.rend());
  std::vector<Result> results;
  for (const std::string& file : files) {
    SOCI_ASSIGN_OR_RETURN(results.emplace_back(), ReadResult(file));
  }
  std::stable_sort(results.begin(), results.end(), [](const Result& a, const Result& b) {
    return a.environment.date > b.environment.date;  // ISO 8601, UTC
  });
  return results;
}

// Of what was kept, newest first, what to compare this scenario with; null: it was never kept over this link.
const Scenario* Newest(const std::vector<Result>& kept, const Scenario& now) {
  const Scenario* of_that_name = nullptr;
  for (const Result& result : kept) {
    const Scenario* other = Counterpart(result, now);
    if (other == nullptr || other->link != now.link) continue;
    if (WhatDiffers(*other, now).empty()) return other;
    if (of_that_name == nullptr) of_that_name = other;
  }
  return of_that_name;
}

}  // namespace

GuardVerdict Guard(const Result& kept, const Result& now, const GuardLimits& limits) {
  Judge judge(limits);
  for (const Scenario& scenario : now.scenarios) {
    if (const Scenario* other = Counterpart(kept, scenario)) {
      judge.Scenarios(*other, scenario);
    } else {
      judge.Say(OneLine(scenario.name + ": nothing kept"));
    }
  }
  for (const Scenario& scenario : kept.scenarios) {
    if (Counterpart(now, scenario) == nullptr) judge.Say(OneLine(scenario.name + ": not measured now"));
  }
  return judge.Finish();
}

soci::Result<Result> FindKept(const std::string& path, const Result& now) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) return ReadResult(path);
  SOCI_ASSIGN_OR_RETURN(const std::vector<Result> results, ReadFolder(path));
  Result kept;
  for (const Scenario& scenario : now.scenarios) {
    if (const Scenario* newest = Newest(results, scenario)) kept.scenarios.push_back(*newest);
  }
  return kept;
}

}  // namespace soci::bench
