#include "bench/cli/run_plan.h"

#include <fmt/format.h>

#include <filesystem>

#include "bench/link/options.h"
#include "bench/run/catalog.h"
#include "bench/run/command_line.h"
#include "bench/run/limited_disk.h"

namespace soci::bench {
namespace {

constexpr int kRepeats = 3;
constexpr char kUsualLink[] = "A";
constexpr char kNoMode[] = "no mode is left to run: the programs of no other snapshotter are in PATH";

Status Wrong(std::string text) { return absl::InvalidArgumentError(std::move(text)); }

Status AddMarks(const std::vector<std::string>& marks, Workload& workload) {
  for (const std::string& mark : marks) {
    const size_t equals = mark.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == mark.size()) {
      return Wrong(fmt::format("--point \"{}\" is no NAME=TEXT", mark));
    }
    workload.marks.push_back({mark.substr(0, equals), mark.substr(equals + 1)});
  }
  return OkStatus();
}

soci::Result<Workload> WorkloadOf(const RunOptions& options) {
  Workload workload;
  SOCI_ASSIGN_OR_RETURN(workload.command, SplitWords(options.work));
  if (workload.command.empty()) return Wrong("--work COMMAND is missing: what runs in the container");
  const int ways = !options.ready_line.empty() + !options.ready_http.empty() + (options.ready_port != 0);
  if (ways > 1) return Wrong("--ready-line, --ready-port and --ready-http exclude each other");
  SOCI_RETURN_IF_ERROR(AddMarks(options.marks, workload));
  workload.stop_when_ready = options.stop_when_ready || !options.ready_http.empty() || options.ready_port != 0;
  if (!options.ready_line.empty()) {
    workload.ready = Workload::Ready::kLine;
    workload.line = options.ready_line;
  } else if (options.ready_port != 0) {
    workload.ready = Workload::Ready::kPort;
    workload.port = options.ready_port;
  } else if (!options.ready_http.empty()) {
    SOCI_RETURN_IF_ERROR(SetReadyUrl(options.ready_http, workload));
  }
  return workload;
}

// "peers" stands for those in PATH.
soci::Result<std::vector<Contestant>> ContestantsOf(const std::vector<std::string>& modes,
                                                    const std::vector<std::string>& snapshotters,
                                                    const std::string& daemon_flags) {
  std::vector<std::string> names;
  for (const std::string& mode : modes) {
    const std::vector<std::string> meant = mode == "peers" ? PeersInPath() : std::vector<std::string>{mode};
    names.insert(names.end(), meant.begin(), meant.end());
  }
  names.insert(names.end(), snapshotters.begin(), snapshotters.end());
  std::vector<Contestant> contestants;
  for (const std::string& name : names) {
    const bool recipe = std::filesystem::path(name).extension() == ".toml";
    SOCI_ASSIGN_OR_RETURN(Contestant contestant, recipe ? ReadContestant(name) : KnownContestant(name));
    if (contestant.local == Contestant::Local::kByStatus) contestant.daemon += daemon_flags;
    contestants.push_back(std::move(contestant));
  }
  return contestants;
}

soci::Result<ScenarioPlan> Common(const RunOptions& options, const std::string& link) {
  ScenarioPlan plan;
  plan.link_text = link;
  if (link != "none") {
    SOCI_ASSIGN_OR_RETURN(plan.link, ParseLink(link));
    plan.link.listen_port = options.link_port;
  }
  if (!options.containerd.empty() && plan.link.disk_bytes_per_second > 0) {
    return Wrong("a disk can be limited only for a containerd of its own, not for that of --containerd");
  }
  plan.cold = !options.warm;
  plan.plain_download = !options.no_calibration && link != "none";
  plan.limit = std::chrono::seconds(options.limit);
  plan.host.containerd = options.containerd;
  plan.host.admin_socket = options.admin_socket;
  plan.repeats = options.repeats > 0 ? options.repeats : kRepeats;
  return plan;
}

// A plain download is one host's, and nothing to set several beside.
Status SetHosts(const RunOptions& options, int hosts, ScenarioPlan& plan) {
  plan.hosts = hosts;
  plan.plain_download &= hosts == 1;
  if (hosts > 1 && !options.containerd.empty()) return Wrong("several hosts need containerds of their own");
  return OkStatus();
}

Status AddNamed(const RunOptions& options, const CatalogEntry& entry, std::vector<PlannedScenario>& planned) {
  const bool own_links = options.link.empty() || entry.keeps_link;
  for (const std::string& link : own_links ? entry.links : std::vector<std::string>{options.link}) {
    PlannedScenario scenario;
    SOCI_ASSIGN_OR_RETURN(scenario.plan, Common(options, link));
    scenario.plan.name = entry.name;
    scenario.plan.note = entry.note;
    SOCI_ASSIGN_OR_RETURN(scenario.plan.workload, NamedWorkload(entry.workload));
    scenario.index_only = entry.modes.empty();
    if (!scenario.index_only) {
      SOCI_ASSIGN_OR_RETURN(
          scenario.plan.contestants,
          ContestantsOf(options.modes.empty() ? entry.modes : options.modes, options.snapshotters, entry.daemon_flags));
      if (scenario.plan.contestants.empty()) return Wrong(kNoMode);
    }
    scenario.plan.wait_until_local = entry.wait_until_local;
    SOCI_RETURN_IF_ERROR(SetHosts(options, entry.hosts, scenario.plan));
    scenario.plan.kill_daemon_at = entry.kill_daemon_at;
    scenario.plan.upgrade_daemon_at = entry.upgrade_daemon_at;
    scenario.plan.registry_down_at = entry.registry_down_at;
    if (scenario.plan.link.disk_bytes_per_second > 0) scenario.left_out = Message(LimitedDisk::Supported());
    scenario.folder = options.images_folder + "/" + entry.image;
    if (!std::filesystem::exists(scenario.folder + "/LAYERS")) {
      return Wrong(fmt::format("scenario {} needs the image {}, which is not in {}", entry.name, entry.image,
                               options.images_folder));
    }
    planned.push_back(std::move(scenario));
  }
  return OkStatus();
}

}  // namespace

soci::Result<std::vector<PlannedScenario>> PlanScenarios(const RunOptions& options) {
  std::vector<PlannedScenario> planned;
  SOCI_ASSIGN_OR_RETURN(const std::vector<CatalogEntry> named, FindScenarios(options.scenarios));
  for (const CatalogEntry& entry : named) SOCI_RETURN_IF_ERROR(AddNamed(options, entry, planned));
  if (options.images.empty() && options.layers.empty()) {
    if (planned.empty()) return Wrong("name an image, a folder with --layers, or a --scenario");
    return planned;
  }
  PlannedScenario own;
  SOCI_ASSIGN_OR_RETURN(own.plan, Common(options, options.link.empty() ? kUsualLink : options.link));
  own.plan.name = options.name;
  SOCI_RETURN_IF_ERROR(SetHosts(options, options.hosts, own.plan));
  if (own.plan.link.disk_bytes_per_second > 0) SOCI_RETURN_IF_ERROR(LimitedDisk::Supported());
  own.plan.wait_until_local = !options.no_wait;
  SOCI_ASSIGN_OR_RETURN(own.plan.workload, WorkloadOf(options));
  const std::vector<std::string> usual = {"containerd", "lazy", "full", "local"};
  SOCI_ASSIGN_OR_RETURN(own.plan.contestants,
                        ContestantsOf(options.modes.empty() ? usual : options.modes, options.snapshotters, ""));
  if (own.plan.contestants.empty()) return Wrong(kNoMode);
  for (const std::string& folder : options.layers) {
    own.folder = folder;
    planned.push_back(own);
  }
  own.folder.clear();
  for (const std::string& reference : options.images) {
    own.reference = reference;
    planned.push_back(own);
  }
  return planned;
}

}  // namespace soci::bench
