// A small result to make reports of: two repeats of three modes.
#pragma once

#include <string>

#include "bench/result/result.h"

namespace soci::bench {

inline Run MakeRun(const std::string& mode, int repeat, double ready, uint64_t bytes, uint64_t requests) {
  Run run;
  run.mode = mode;
  run.repeat = repeat;
  run.points = {{"first output", ready / 2, {bytes / 2, requests / 2, 2}}, {"ready", ready, {bytes, requests, 2}}};
  run.resources = {1, 0.5, 50'000'000, 100'000'000, bytes};
  run.bytes_over_time = {{0, 0}, {ready, bytes}};
  return run;
}

// containerd ready after 40 and 44 s, lazy after 2 and 2.2 s, local after 1 and 1.1 s.
inline Scenario MakeScenario(const std::string& name = "start") {
  Scenario scenario{name, "S", "A", "import", 700'000'000, 1'800'000'000, {}, 5.6};
  for (int repeat = 1; repeat <= 2; ++repeat) {
    const double slower = repeat == 1 ? 1 : 1.1;
    scenario.runs.push_back(MakeRun("containerd", repeat, 40 * slower, 700'000'000, 20));
    scenario.runs.push_back(MakeRun("lazy", repeat, 2 * slower, 50'000'000, 100));
    scenario.runs.back().counts = {{"spans fetched", 60}};
    scenario.runs.push_back(MakeRun("local", repeat, 1 * slower, 0, 0));
  }
  return scenario;
}

inline Result MakeResult() {
  Result result;
  result.environment = {"2026-12-02", "abc123", "6.1", "some cpu", "1.6.20", "0.1.0", 2, uint64_t{8} << 30};
  result.calibrations = {{"A", 125e6, 90e6, 30}};
  result.scenarios = {MakeScenario()};
  return result;
}

}  // namespace soci::bench
