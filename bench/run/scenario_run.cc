#include "bench/run/scenario_run.h"

#include <fmt/format.h>

#include <map>
#include <memory>
#include <optional>
#include <stdexcept>

#include "bench/link/calibration.h"
#include "bench/run/cold.h"
#include "bench/run/gang.h"
#include "bench/run/host_network.h"
#include "bench/run/measured_run.h"
#include "bench/run/order.h"
#include "bench/run/plain_download.h"

namespace soci::bench {
namespace {

constexpr uint64_t kCalibrationBytes = uint64_t{64} << 20;

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
  run.upgrade_daemon_at.clear();
  run.registry_down_at.clear();
  return MeasureRun(run).error;
}

std::unique_ptr<Link> StartLink(LinkOptions options, const Stage& stage, const std::optional<Hub>& hub) {
  options.upstream_port = stage.port();
  if (hub) {
    options.listen_address = Hub::kAddress;
    options.listen_namespace = hub->fd();
  }
  auto link = Link::Start(options);
  if (!link.ok()) throw std::runtime_error(std::string(Message(link.status())));
  return *std::move(link);
}

// What the link did to this run's answers on purpose: without it nobody could tell whether anything went wrong at all.
std::map<std::string, double> FaultsSince(const FaultOptions& wanted, const LinkCounters& before,
                                          const LinkCounters& now) {
  std::map<std::string, double> counts;
  const auto add = [&](const char* name, double share, uint64_t LinkCounters::*count) {
    if (share > 0) counts[name] = static_cast<double>(now.*count - before.*count);
  };
  add("link_bits_turned", wanted.flip, &LinkCounters::flips);
  add("link_answers_refused", wanted.unavailable, &LinkCounters::unavailable);
  add("link_answers_cut", wanted.reset, &LinkCounters::resets);
  add("link_answers_held_up", wanted.stall, &LinkCounters::stalls);
  return counts;
}

std::string Address(const Link& link, const std::optional<Hub>& hub) {
  return fmt::format("{}:{}", hub ? Hub::kAddress : "127.0.0.1", link.port());
}

}  // namespace

Scenario RunScenario(const Stage& stage, ColdMachine& machine, const ScenarioPlan& plan, const std::stop_token& stop,
                     const std::function<void(const std::string&)>& say) {
  std::optional<Hub> hub;
  if (plan.hosts > 1) hub.emplace();
  const std::unique_ptr<Link> link = StartLink(plan.link, stage, hub);
  LinkOptions unlimited;
  const std::unique_ptr<Link> around = hub ? StartLink(unlimited, stage, hub) : nullptr;

  Scenario scenario{plan.name,
                    plan.image.name,
                    plan.link_text,
                    plan.workload.name.empty() ? CommandText(plan.workload.command) : plan.workload.name,
                    plan.image.bytes,
                    plan.image.unpacked_bytes,
                    {}};
  scenario.note = plan.note;
  RunPlan run;
  run.image = {Address(*link, hub) + "/" + plan.image.path};
  run.direct = {(around ? Address(*around, hub) : stage.host()) + "/" + plan.image.path};
  run.workload = plan.workload;
  run.host = plan.host;
  run.limit = plan.limit;
  run.stop = stop;
  run.wait_until_local = plan.wait_until_local;
  run.kill_daemon_at = plan.kill_daemon_at;
  run.upgrade_daemon_at = plan.upgrade_daemon_at;
  run.registry_down_at = plan.registry_down_at;
  run.set_registry_down = [&link = *link](bool down) { link.SetDown(down); };
  run.hub = hub ? &*hub : nullptr;
  run.disk_bytes_per_second = plan.link.disk_bytes_per_second;
  run.traffic = [&link = *link] {
    const LinkCounters counters = link.counters();
    return Traffic{counters.bytes_down, counters.requests, counters.connections};
  };
  run.make_cold = [&] {
    if (plan.cold && !machine.DropCaches()) say("cannot drop the page cache: this run is warmer than it should be");
    WarmFolder(stage.storage(), stage.LayersOfOthers(plan.image.path), stop);
    if (plan.cold) machine.FillFreeMemory(stop);
  };
  if (plan.plain_download) {
    say("downloading the image's bytes, and nothing else");
    WarmFolder(stage.storage(), stage.LayersOfOthers(plan.image.path), stop);
    try {
      OnHost(run, [&] { scenario.plain_download_seconds = PlainDownload(run.image, plan.link, stop); });
    } catch (const std::exception& error) {
      say(error.what());
    }
  }
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
    const LinkCounters before = link->counters();
    scenario.runs.push_back(plan.hosts > 1 ? MeasureGang(run, plan.hosts) : MeasureRun(run));
    scenario.runs.back().counts.merge(FaultsSince(plan.link.faults, before, link->counters()));
    run.say(OneLine(scenario.runs.back()));
  }
  return scenario;
}

Calibration CalibrateLink(const std::string& text, const LinkOptions& link, const std::stop_token& stop) {
  const auto measured = soci::Calibrate(link, kCalibrationBytes, stop);
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
