// The options of `soci-bench run` and the scenarios they mean. Pure but for looking whether files are there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/run/scenario_run.h"
#include "indexer/base/result.h"

namespace soci::bench {

struct RunOptions {
  std::vector<std::string> images, layers;
  std::vector<std::string> scenarios;
  std::string images_folder = "build/bench/images";  // where scenarios find their images
  std::vector<std::string> modes, snapshotters, marks;
  std::string name = "run";
  std::string link;  // empty: A, or what a scenario names
  std::string work, ready_line, ready_http;
  uint16_t ready_port = 0;
  bool stop_when_ready = false, no_wait = false;
  int repeats = 0, hosts = 1;  // repeats 0: 3, or 1 of what takes long
  int64_t limit = 900;
  std::string json, html, containerd, admin_socket = "/run/soci-snapshotter/admin.sock";
  uint16_t link_port = 0;
  bool warm = false, no_calibration = false, plain_http = false;
};

struct PlannedScenario {
  ScenarioPlan plan;      // all but its image
  std::string folder;     // of the image's layers; or
  std::string reference;  // where it is in a registry
  bool index_only = false;
  std::string left_out = {};  // why it cannot be run on this machine; the others can
};

// kInvalidArgument for options that make no sense, in one line.
soci::Result<std::vector<PlannedScenario>> PlanScenarios(const RunOptions& options);

}  // namespace soci::bench
