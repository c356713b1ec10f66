// Runs a scenario: one image over one link with one workload, by several contestants in turns.
//
// Blocks until all runs are done, or soon after a stop was requested: what was measured until then is in the scenario.
// A run that fails is a run with an error; what prevents all runs throws std::runtime_error.
#pragma once

#include <chrono>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "bench/link/link.h"
#include "bench/result/result.h"
#include "bench/run/cold.h"
#include "bench/run/contestant.h"
#include "bench/run/host.h"
#include "bench/run/stage.h"
#include "bench/run/workload.h"

namespace soci::bench {

struct ScenarioPlan {
  std::string name = "run";
  std::string note = {};  // for the report
  StagedImage image;
  std::string link_text = "A";
  LinkOptions link;
  Workload workload;
  std::vector<Contestant> contestants;
  int repeats = 3;
  bool cold = true;  // drop the machine's caches before each run
  bool wait_until_local = true;
  std::string kill_daemon_at = {}, upgrade_daemon_at = {}, registry_down_at = {};
  int hosts = 1;               // at once
  bool plain_download = true;  // measure that too, once
  std::chrono::seconds limit{600};
  HostOptions host;
};

Scenario RunScenario(const Stage& stage, ColdMachine& machine, const ScenarioPlan& plan, const std::stop_token& stop,
                     const std::function<void(const std::string&)>& say);

// Measures the link itself, by plain downloads. Throws std::runtime_error, also when it is stopped.
Calibration CalibrateLink(const std::string& text, const LinkOptions& link, const std::stop_token& stop);

}  // namespace soci::bench
