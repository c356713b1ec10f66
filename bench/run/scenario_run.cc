#include "bench/run/scenario_run.h"

#include <fmt/format.h>

#include <map>
#include <stdexcept>

#include "bench/link/calibration.h"
#include "bench/run/cold.h"
#include "bench/run/measured_run.h"
#include "bench/run/order.h"

namespace soci::bench {
namespace {

std::string OneLine(const Run& run) {
  if (!run.error.empty()) return "FAILED: " + run.error;
  std::string text;
  for (const Point& point : run.points) {
    text += fmt::format("{}{} {:.2f} s", text.empty() ? "" : ", ", point.name, point.seconds);
  }
  return text;
}

std::string CommandText(const std::vector<std::string>& command) {
  std::string text;
  for (const std::string& word : command) text += (text.empty() ? "" : " ") + word;
  return text;
}

// Runs the work once, for what it reads. Why it could not; empty: it could.
std::string MakeRecord(RunPlan run, const std::string& folder) {
  run.save_records = folder;
  run.wait_until_local = false;
  run.kill_daemon_at.clear();
  return MeasureRun(run).error;
}

}  // namespace

Scenario RunScenario(const Stage& stage, const ScenarioPlan& plan, const std::stop_token& stop,
                     const std::function<void(const std::string&)>& say) {
  LinkOptions options = plan.link;
  options.upstream_port = stage.port();
  auto link = Link::Start(options);
  if (!link.ok()) throw std::runtime_error(std::string(Message(link.status())));

  Scenario scenario{plan.name,
                    plan.image.name,
                    plan.link_text,
                    plan.workload.name.empty() ? CommandText(plan.workload.command) : plan.workload.name,
                    plan.image.bytes,
                    plan.image.unpacked_bytes,
                    {}};
  RunPlan run;
  run.image = {fmt::format("127.0.0.1:{}/{}", (*link)->port(), plan.image.path)};
  run.direct = {stage.host() + "/" + plan.image.path};
  run.workload = plan.workload;
  run.host = plan.host;
  run.limit = plan.limit;
  run.stop = stop;
  run.wait_until_local = plan.wait_until_local;
  run.kill_daemon_at = plan.kill_daemon_at;
  run.traffic = [&link = **link] {
    const LinkCounters counters = link.counters();
    return Traffic{counters.bytes_down, counters.requests, counters.connections};
  };
  UniqueFd occupied;
  run.make_cold = [&] {
    occupied.Reset();
    if (plan.cold && !DropCaches()) say("cannot drop the page cache: this run is warmer than it should be");
    WarmFolder(stage.storage());
    if (plan.cold && HostTakesFreeMemory()) occupied = OccupyFreeMemory(stage.storage());
  };
  std::map<std::string, std::string> not_set_up;  // why, by mode
  const test::Sandbox recordings;
  for (const Contestant& contestant : plan.contestants) {
    run.contestant = contestant;
    if (contestant.recorded) {
      say(fmt::format("recording for {}, not measured", contestant.mode));
      const std::string error = MakeRecord(run, recordings / contestant.mode);
      if (!error.empty()) not_set_up[contestant.mode] = error;
    }
    // Another scenario may have made its image already.
    const bool there = !contestant.image_suffix.empty() && stage.Has(plan.image.path + contestant.image_suffix);
    if (there || contestant.setup.empty()) continue;
    say(fmt::format("preparing the image for {}, not measured", contestant.mode));
    try {
      SetUp(run);
    } catch (const std::exception& error) {
      not_set_up[contestant.mode] = error.what();
    }
  }
  const std::vector<Turn> turns = Turns(plan.contestants.size(), plan.repeats);
  for (size_t i = 0; i < turns.size() && !stop.stop_requested(); ++i) {
    run.contestant = plan.contestants[turns[i].mode];
    run.repeat = turns[i].repeat;
    run.host.records = run.contestant.recorded ? recordings / run.contestant.mode : "";
    const std::string who =
        fmt::format("[{}/{}] {} {} #{}: ", i + 1, turns.size(), plan.name, run.contestant.mode, run.repeat);
    run.say = [&](const std::string& text) { say(who + text); };
    run.say("begins");
    if (const auto why = not_set_up.find(run.contestant.mode); why != not_set_up.end()) {
      Run failed;
      failed.mode = run.contestant.mode;
      failed.repeat = run.repeat;
      failed.error = why->second;
      scenario.runs.push_back(failed);
      run.say(OneLine(failed));
      continue;
    }
    scenario.runs.push_back(plan.hosts > 1 ? MeasureGang(run, plan.hosts) : MeasureRun(run));
    run.say(OneLine(scenario.runs.back()));
  }
  return scenario;
}

Calibration CalibrateLink(const std::string& text, const LinkOptions& link) {
  const auto measured = soci::Calibrate(link);
  if (!measured.ok()) throw std::runtime_error("link " + text + ": " + std::string(Message(measured.status())));
  Calibration calibration;
  calibration.link = text;
  for (const CalibratedFigure& figure : measured->figures) {
    double& out = figure.name == "delay"            ? calibration.delay_ms
                  : figure.name == "one connection" ? calibration.rate_one
                                                    : calibration.rate_all;
    out = figure.measured;
  }
  return calibration;
}

}  // namespace soci::bench
