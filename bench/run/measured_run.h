// One measured run: a host on which the image has never been, the pull, the workload in a container, until all is
// local.
//
// Never throws: what went wrong is in the run's `error`, with all that was measured until then. Nothing of the run is
// left when it returns. Takes at most `limit`, and ends soon after `stop`.
#pragma once

#include <chrono>
#include <functional>
#include <stop_token>
#include <string>

#include "bench/result/result.h"
#include "bench/run/contestant.h"
#include "bench/run/host.h"
#include "bench/run/host_network.h"
#include "bench/run/timeline.h"
#include "bench/run/workload.h"

namespace soci::bench {

struct RunPlan {
  Contestant contestant;
  int repeat = 1;
  ImageAddress image;   // through the link
  ImageAddress direct;  // around it
  Workload workload;
  HostOptions host;
  Timeline::ReadTraffic traffic;
  std::function<void()> make_cold;  // caches, just before the host comes into being
  bool wait_until_local = true;
  std::string save_records = {};  // the folder, if what is recorded is what the run is for
  // Trouble, when a line of the output contains the text; empty: never.
  std::string kill_daemon_at = {}, upgrade_daemon_at = {}, registry_down_at = {};
  std::chrono::seconds down_for{5};
  std::function<void(bool)> set_registry_down = {};  // the link's end; needed for registry_down_at
  const Hub* hub = nullptr;                          // then the host has namespaces of its own, and this uplink
  uint64_t disk_bytes_per_second = 0;                // 0: no limit
  std::chrono::seconds limit{600};
  std::stop_token stop = {};
  std::function<void(const std::string&)> say;  // what is happening, for people
};

Run MeasureRun(const RunPlan& plan);

// The contestant's preparations for an image: once, on a host of its own, around the link. Throws std::runtime_error.
void SetUp(const RunPlan& plan);

}  // namespace soci::bench
