#include "bench/cli/run_verb.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>

#include "bench/link/options.h"
#include "bench/report/page.h"
#include "bench/report/terminal.h"
#include "bench/result/codec.h"
#include "bench/run/environment.h"
#include "bench/run/scenario_run.h"
#include "indexer/base/file_io.h"
#include "snapshotter/daemon/registry_parts.h"
#include "snapshotter/daemon/stop_signals.h"

namespace soci::bench {
namespace {

struct RunOptions {
  std::vector<std::string> images, layers, marks;
  std::vector<std::string> modes = {"containerd", "lazy", "full", "local"};
  std::vector<std::string> snapshotters;
  std::string link = "A";
  std::string name = "run", work, ready_line, ready_http;
  uint16_t ready_port = 0;
  bool stop_when_ready = false;
  int repeats = 3;
  int64_t limit = 900;
  std::string json, html, containerd, admin_socket = "/run/soci-snapshotter/admin.sock";
  bool warm = false, no_calibration = false, plain_http = false;
};

class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

template <typename T>
T OrUsage(soci::Result<T> result) {
  if (!result.ok()) throw UsageError(std::string(Message(result.status())));
  return *std::move(result);
}

void Say(const std::string& line) { fmt::print(stderr, "soci-bench: {}\n", line); }

std::string ProgramsFolder() { return std::filesystem::read_symlink("/proc/self/exe").parent_path().string(); }

Workload WorkloadOf(const RunOptions& options) {
  Workload workload;
  workload.command = OrUsage(SplitWords(options.work));
  if (workload.command.empty()) throw UsageError("--work needs a command");
  const int ways = !options.ready_line.empty() + !options.ready_http.empty() + (options.ready_port != 0);
  if (ways > 1) throw UsageError("--ready-line, --ready-port and --ready-http exclude each other");
  workload.stop_when_ready = options.stop_when_ready || !options.ready_http.empty() || options.ready_port != 0;
  for (const std::string& mark : options.marks) {
    const size_t equals = mark.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == mark.size())
      throw UsageError("--point \"" + mark + "\" is no NAME=TEXT");
    workload.marks.push_back({mark.substr(0, equals), mark.substr(equals + 1)});
  }
  if (!options.ready_line.empty()) {
    workload.ready = Workload::Ready::kLine;
    workload.line = options.ready_line;
  } else if (options.ready_port != 0) {
    workload.ready = Workload::Ready::kPort;
    workload.port = options.ready_port;
  } else if (!options.ready_http.empty()) {
    if (const Status status = SetReadyUrl(options.ready_http, workload); !status.ok())
      throw UsageError(std::string(Message(status)));
  }
  return workload;
}

std::vector<Contestant> ContestantsOf(const RunOptions& options) {
  std::vector<Contestant> contestants;
  for (const std::string& mode : options.modes) contestants.push_back(OrUsage(KnownContestant(mode)));
  for (const std::string& name : options.snapshotters) {
    const bool recipe = std::filesystem::path(name).extension() == ".toml";
    contestants.push_back(OrUsage(recipe ? ReadContestant(name) : KnownContestant(name)));
  }
  if (options.images.empty() && options.layers.empty()) throw UsageError("name an image, or a folder with --layers");
  if (contestants.empty()) throw UsageError("no mode is left to run");
  return contestants;
}

int RunAll(const RunOptions& options, const StopSignals& signals) {
  const std::string programs = ProgramsFolder();
  ::setenv("SOCI_TEST_PROGRAMS", programs.c_str(), 0);
  ScenarioPlan plan;
  plan.name = options.name;
  plan.link_text = options.link;
  plan.link = OrUsage(ParseLink(options.link));
  plan.workload = WorkloadOf(options);
  plan.contestants = ContestantsOf(options);
  plan.repeats = options.repeats;
  plan.cold = !options.warm;
  plan.limit = std::chrono::seconds(options.limit);
  plan.host = {options.containerd, options.admin_socket, programs};

  Result result;
  result.environment = ThisEnvironment(programs);
  Stage stage(programs, Say);
  if (!options.no_calibration) {
    Say("calibrating link " + options.link);
    result.calibrations.push_back(CalibrateLink(plan.link_text, plan.link));
  }
  const auto registry = RegistryParts::Make(RegistryConfig(), {options.plain_http});
  if (!registry.ok()) throw std::runtime_error(std::string(Message(registry.status())));
  bool failed = false;
  for (size_t i = 0; i < options.layers.size() + options.images.size(); ++i) {
    if (signals.token().stop_requested()) break;
    plan.image = i < options.layers.size() ? stage.AddFolder(options.layers[i])
                                           : stage.AddImage((*registry)->client(),
                                                            options.images[i - options.layers.size()], signals.token());
    result.scenarios.push_back(RunScenario(stage, plan, signals.token(), Say));
    fmt::print("\n{}", TerminalReport(result.scenarios.back()));
    for (const Run& run : result.scenarios.back().runs) failed |= !run.error.empty();
  }
  if (!options.json.empty()) {
    if (const Status status = WriteResult(result, options.json); !status.ok())
      throw std::runtime_error(std::string(Message(status)));
  }
  if (!options.html.empty()) {
    if (const Status status = ReplaceFile(options.html, HtmlReport(result)); !status.ok())
      throw std::runtime_error(std::string(Message(status)));
  }
  return signals.token().stop_requested() ? 130 : failed ? 1 : 0;
}

int RunVerb(const RunOptions& options) {
  try {
    const StopSignals signals;
    return RunAll(options, signals);
  } catch (const UsageError& error) {
    Say(error.what());
    return 2;
  } catch (const std::exception& error) {
    Say(error.what());
    return 1;
  }
}

}  // namespace

void AddRunVerb(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* verb = app.add_subcommand("run", "Pull and run images in several modes, from nothing, and measure");
  verb->add_option("IMAGE", options->images, "Image in a registry; it is copied to one of our own, behind the link");
  verb->add_option("--layers", options->layers, "Folder with an image's layers, as make_layers.sh leaves it");
  verb->add_flag("--plain-http", options->plain_http, "The image's registry speaks HTTP");
  verb->add_option("--mode", options->modes, "containerd, lazy, full, local")->delimiter(',')->capture_default_str();
  verb->add_option("--snapshotter", options->snapshotters,
                   "One of others: soci, stargz (their programs in PATH), or RECIPE.toml")
      ->delimiter(',');
  verb->add_option("--link", options->link, "A, B, C or DELAY,CONNECTION_RATE,TOTAL_RATE[,...]")
      ->take_last()
      ->capture_default_str();
  verb->add_option("--work", options->work, "Command line that runs in the container")->required();
  verb->add_option("--point", options->marks, "NAME=TEXT: a point when a line of the output contains the text");
  verb->add_option("--ready-line", options->ready_line, "Ready when a line of the output contains this");
  verb->add_option("--ready-port", options->ready_port, "Ready when somebody listens on this port of 127.0.0.1");
  verb->add_option("--ready-http", options->ready_http, "Ready when this URL is answered with 200");
  verb->add_flag("--stop-when-ready", options->stop_when_ready, "Do not wait for the command's end");
  verb->add_option("-n,--repeats", options->repeats, "Runs of each mode")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  verb->add_option("--limit", options->limit, "Seconds that one run may take")
      ->check(CLI::Range(1, 86400))
      ->capture_default_str();
  verb->add_option("--name", options->name, "What the result is called")->capture_default_str();
  verb->add_option("--json", options->json, "Write the raw result to this file");
  verb->add_option("--html", options->html, "Write the report as a page to this file");
  verb->add_option("--containerd", options->containerd, "Address of this machine's containerd; else one of our own");
  verb->add_option("--admin-socket", options->admin_socket, "Of this machine's soci-snapshotter")
      ->capture_default_str();
  verb->add_flag("--warm", options->warm, "Leave the machine's page cache alone");
  verb->add_flag("--no-calibration", options->no_calibration, "Believe the link");
  verb->callback([options, &exit_code] { exit_code = RunVerb(*options); });
}

}  // namespace soci::bench
