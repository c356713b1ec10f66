#include "bench/cli/run_verb.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <stdexcept>

#include "bench/cli/preflight.h"
#include "bench/cli/run_plan.h"
#include "bench/report/page.h"
#include "bench/report/terminal.h"
#include "bench/result/codec.h"
#include "bench/run/catalog.h"
#include "bench/run/cold.h"
#include "bench/run/environment.h"
#include "bench/run/scenario_run.h"
#include "bench/run/stage.h"
#include "indexer/base/file_io.h"
#include "snapshotter/daemon/registry_parts.h"
#include "snapshotter/daemon/stop_signals.h"

namespace soci::bench {
namespace {

constexpr int kInterrupted = 130;

void Say(const std::string& line) { fmt::print(stderr, "soci-bench: {}\n", line); }

std::string ProgramsFolder() { return std::filesystem::read_symlink("/proc/self/exe").parent_path().string(); }

StagedImage Staged(Stage& stage, RegistryClient& registry, const PlannedScenario& scenario,
                   std::map<std::string, StagedImage>& staged, const std::stop_token& stop) {
  const std::string& key = scenario.folder.empty() ? scenario.reference : scenario.folder;
  const auto known = staged.find(key);
  if (known != staged.end()) return known->second;
  return staged[key] = scenario.folder.empty() ? stage.AddImage(registry, key, stop) : stage.AddFolder(key, stop);
}

void Calibrate(const ScenarioPlan& plan, Result& result, const std::stop_token& stop) {
  for (const Calibration& known : result.calibrations) {
    if (known.link == plan.link_text) return;
  }
  Say("calibrating link " + plan.link_text);
  result.calibrations.push_back(CalibrateLink(plan.link_text, plan.link, stop));
}

// Of the same image through the same link, for an earlier scenario: it costs as long as the link needs.
double KnownPlainDownload(const Result& result, const ScenarioPlan& plan) {
  for (const Scenario& scenario : result.scenarios) {
    const bool same_image = scenario.image == plan.image.name && scenario.image_bytes == plan.image.bytes;
    if (same_image && scenario.link == plan.link_text && scenario.plain_download_seconds > 0) {
      return scenario.plain_download_seconds;
    }
  }
  return 0;
}

void Write(const RunOptions& options, const Result& result) {
  Status written = OkStatus();
  if (!options.json.empty()) written = WriteResult(result, options.json);
  if (written.ok() && !options.html.empty()) written = ReplaceFile(options.html, HtmlReport(result));
  if (!written.ok()) throw std::runtime_error(std::string(Message(written)));
}

int RunAll(const RunOptions& options, const std::vector<PlannedScenario>& planned, const StopSignals& signals) {
  const std::string programs = ProgramsFolder();
  ::setenv("SOCI_TEST_PROGRAMS", programs.c_str(), 0);
  const auto registry = RegistryParts::Make(RegistryConfig(), {options.plain_http});
  if (!registry.ok()) throw std::runtime_error(std::string(Message(registry.status())));
  Result result;
  result.environment = ThisEnvironment(programs);
  for (const PlannedScenario& scenario : planned) {
    for (const Contestant& contestant : scenario.plan.contestants) {
      std::string& version = result.environment.others[contestant.mode];
      if (version.empty()) version = VersionOf(contestant);
      if (version.empty()) result.environment.others.erase(contestant.mode);
    }
  }
  for (const std::string& line : EnvironmentLines(result.environment)) fmt::print("{}\n", line);
  Stage stage(programs, Say);
  ColdMachine machine(stage.folder());
  std::map<std::string, StagedImage> staged;
  bool failed = false;
  for (const PlannedScenario& scenario : planned) {
    if (signals.token().stop_requested()) break;
    if (!scenario.left_out.empty()) {
      Say(fmt::format("{} over link {} is left out: {}", scenario.plan.name, scenario.plan.link_text,
                      scenario.left_out));
      continue;
    }
    ScenarioPlan plan = scenario.plan;
    plan.host.programs = programs;
    if (!options.no_calibration && !scenario.index_only) Calibrate(plan, result, signals.token());
    if (signals.token().stop_requested()) throw std::runtime_error("interrupted before anything was measured");
    plan.image = Staged(stage, (*registry)->client(), scenario, staged, signals.token());
    const double known = plan.plain_download ? KnownPlainDownload(result, plan) : 0;
    plan.plain_download &= known == 0;
    result.scenarios.push_back(scenario.index_only ? Stage::IndexCost(plan.image)
                                                   : RunScenario(stage, machine, plan, signals.token(), Say));
    if (result.scenarios.back().runs.empty()) {  // interrupted before the first
      result.scenarios.pop_back();
      break;
    }
    if (known > 0) result.scenarios.back().plain_download_seconds = known;
    fmt::print("\n{}", TerminalReport(result.scenarios.back()));
    std::fflush(stdout);
    for (const Run& run : result.scenarios.back().runs) failed |= !run.error.empty();
    Write(options, result);  // after each: what is measured is not lost
  }
  if (signals.token().stop_requested()) throw std::runtime_error("interrupted");
  return failed ? 1 : 0;
}

int RunVerb(const RunOptions& options) {
  const auto planned = PlanScenarios(options);
  if (!planned.ok()) {
    Say(std::string(Message(planned.status())));
    return 2;
  }
  if (const Status ready = CheckMachine(options); !ready.ok()) {
    Say(std::string(Message(ready)));
    return 1;
  }
  if (const std::string doubt = WhyDoubtful(); !doubt.empty()) Say(doubt);
  try {
    const StopSignals signals;
    try {
      return RunAll(options, *planned, signals);
    } catch (const std::exception& error) {
      Say(error.what());
      return signals.token().stop_requested() ? kInterrupted : 1;
    }
  } catch (const std::exception& error) {  // before there was anything to interrupt
    Say(error.what());
    return 1;
  }
}

void AddWhat(CLI::App& verb, RunOptions& options) {
  verb.add_option("IMAGE", options.images, "Image in a registry; it is copied to one of our own, behind the link");
  verb.add_option("--layers", options.layers, "Folder with an image's layers, as make_layers.sh leaves it");
  verb.add_flag("--plain-http", options.plain_http, "The image's registry speaks HTTP");
  verb.add_option("--scenario", options.scenarios, "Scenarios by name; short or all (soci-bench scenarios lists them)")
      ->delimiter(',');
  verb.add_option("--images", options.images_folder, "Folder with the scenarios' images")->capture_default_str();
  verb.add_option("--mode", options.modes,
                  "containerd, lazy, lazy+replay, full, local, or peers: whose programs are in PATH")
      ->delimiter(',');
  verb.add_option("--snapshotter", options.snapshotters,
                  "One of others: soci, stargz (their programs in PATH), or RECIPE.toml")
      ->delimiter(',');
}

void AddWork(CLI::App& verb, RunOptions& options) {
  verb.add_option("--work", options.work, "Command line that runs in the container");
  verb.add_option("--point", options.marks, "NAME=TEXT: a point when a line of the output contains the text");
  verb.add_option("--ready-line", options.ready_line, "Ready when a line of the output contains this");
  verb.add_option("--ready-port", options.ready_port, "Ready when somebody listens on this port of 127.0.0.1");
  verb.add_option("--ready-http", options.ready_http, "Ready when this URL is answered with 200");
  verb.add_flag("--stop-when-ready", options.stop_when_ready, "Do not wait for the command's end");
  verb.add_flag("--no-wait", options.no_wait, "Do not wait until all of the image is local");
}

}  // namespace

void AddRunVerb(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* verb = app.add_subcommand("run", "pull and run images in several modes, from nothing, and measure");
  AddWhat(*verb, *options);
  AddWork(*verb, *options);
  verb->add_option("--link", options->link,
                   "A, B, C, D or DELAY,CONNECTION_RATE,TOTAL_RATE[,...]; else A, or those that a scenario names")
      ->take_last();
  verb->add_option("--link-port", options->link_port, "Port of 127.0.0.1 that the link listens on; else a free one");
  verb->add_option("-n,--repeats", options->repeats, "Runs of each mode (default 3)")
      ->take_last()
      ->check(CLI::Range(1, 1000));
  verb->add_option("--hosts", options->hosts, "Hosts that start at once, each in namespaces of its own")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  verb->add_option("--limit", options->limit, "Seconds that one run may take")
      ->check(CLI::Range(1, 86400))
      ->capture_default_str();
  verb->add_option("--name", options->name, "What the result is called")->capture_default_str();
  verb->add_option("--json", options->json, "Write the raw result to this file")->take_last();
  verb->add_option("--html", options->html, "Write the report as a page to this file")->take_last();
  verb->add_option("--containerd", options->containerd, "Address of this machine's containerd; else one of our own");
  verb->add_option("--admin-socket", options->admin_socket, "Of this machine's soci-snapshotter")
      ->capture_default_str();
  verb->add_flag("--warm", options->warm, "Leave the machine's page cache alone");
  verb->add_flag("--no-calibration", options->no_calibration, "Believe the link");
  verb->callback([options, &exit_code] { exit_code = RunVerb(*options); });

  app.add_subcommand("scenarios", "list the named scenarios")->callback([] {
    for (const CatalogEntry& entry : Catalog()) {
      fmt::print("{:<16} {:<9} {}\n", entry.name, entry.image, entry.question);
    }
  });
}

}  // namespace soci::bench
