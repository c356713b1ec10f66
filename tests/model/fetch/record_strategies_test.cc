// Programs of three kinds, `import torch`, a Node server and a Java server, over the links of the benchmarks: what
// guessing, fill and a record are worth to them. Each run prints its figures.
#include <gtest/gtest.h>

#include <cstdio>
#include <functional>
#include <map>
#include <string>

#include "tests/model/fetch/simulated_replay.h"

namespace soci::test {
namespace {

struct Strategy {
  uint32_t neighbours = 4;
  bool fill = false;
  bool replay = false;
  bool by_offset = false;
  ImageReplay::Options options = {};
};

struct Outcome {
  double ready = 0;  // seconds from the pull
  size_t waits = 0;
  uint64_t misses = 0;
  double megabytes = 0;
};

const ProgramTrace& TraceOf(const std::string& name) {
  static std::map<std::string, ProgramTrace> traces;
  const auto found = traces.find(name);
  return found != traces.end() ? found->second : traces.emplace(name, ProgramTrace::Load(name)).first->second;
}

Outcome Try(const std::string& program_name, const char* name, const LinkProfile& link, const Strategy& strategy) {
  const ProgramTrace& trace = TraceOf(program_name);
  SimulationOptions options;
  options.link = link;
  options.read_ahead.neighbours = strategy.neighbours;
  Simulation simulation(options);
  for (size_t i = 0; i < trace.layers.size(); ++i) simulation.Add(trace.layers[i], "registry", trace.files[i]);
  Record record = RecordOf(trace.reads, trace.files);
  if (strategy.by_offset) record = InOrderOfOffset(std::move(record), trace.files);
  SimulatedReplay replay(simulation, std::move(record), strategy.options);
  if (strategy.replay) replay.Join();
  if (strategy.fill) {
    for (auto& layer : simulation.layers()) layer->StartFill();
  }
  Program program(simulation, trace.reads);
  simulation.After(std::chrono::seconds(1), [&] { program.Start(); });  // until then the container is made
  EXPECT_TRUE(simulation.RunUntil([&] { return program.done(); }));
  const Outcome outcome{program.done_at(), program.waits(), simulation.scheduler().counters().demand_misses,
                        static_cast<double>(simulation.link().bytes() * kScale) / 1e6};
  const ReplayCounts counts = replay.Report().counts;
  std::printf("  %-24s ready %5.2f s, %3zu waits, %3zu misses, %4.0f MB; %zu hits, %zu late, %zu missed\n", name,
              outcome.ready, outcome.waits, size_t{outcome.misses}, outcome.megabytes, size_t{counts.hits},
              size_t{counts.late}, size_t{counts.misses});
  return outcome;
}

constexpr LinkProfile kSlow{.delay = std::chrono::milliseconds(20), .connection_rate = 12.5e6, .total_rate = 12.5e6};
constexpr LinkProfile kSlowAndFar{
    .delay = std::chrono::milliseconds(100), .connection_rate = 12.5e6, .total_rate = 12.5e6};
// What many connections bring together, and no few.
constexpr LinkProfile kThin{.delay = std::chrono::milliseconds(30), .connection_rate = 8e6, .total_rate = 125e6};
const std::pair<const char*, LinkProfile> kLinks[] = {{"A", kLinkA},   {"B", kLinkB},        {"C", kLinkC},
                                                      {"slow", kSlow}, {"far", kSlowAndFar}, {"thin", kThin}};

class RecordStrategies : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Programs, RecordStrategies, ::testing::Values("import_torch", "node", "java"),
                         [](const auto& program) { return std::string(program.param); });

TEST_P(RecordStrategies, ARecordBeatsEveryGuessOnEveryLinkAndFetchesLittleElse) {
  const double touched = static_cast<double>(TraceOf(GetParam()).touched().bytes) / 1e6;
  for (const auto& [name, link] : kLinks) {
    std::printf("%s on %s, %.0f MB touched\n", GetParam(), name, touched);
    const Outcome demand = Try(GetParam(), "demand alone", link, {.neighbours = 0});
    const Outcome guess = Try(GetParam(), "4 neighbours", link, {});
    const Outcome fill = Try(GetParam(), "4 neighbours and fill", link, {.fill = true});
    const Outcome record = Try(GetParam(), "record", link, {.replay = true});
    const Outcome both = Try(GetParam(), "record and fill", link, {.fill = true, .replay = true});
    EXPECT_LE(record.ready, std::min({demand.ready, guess.ready, fill.ready})) << name;
    EXPECT_LE(both.ready, 1.15 * record.ready) << name;
    EXPECT_LE(record.misses, 1u) << name;
    EXPECT_LE(record.megabytes, 1.35 * touched) << name;
  }
}

// With fill, 24 MiB asked for in the order of asking and sixteen connections the first four took 9.4, 15.2, 8.7
// and 52.3 seconds. If every byte came at the link's rate and in the order of need they would take 8.8, 12.3, 8.7
// and 39.4.
TEST(ImportTorchByItsRecord, IsNearToWhatTheLinkAllowsAndFillTakesNothingFromIt) {
  const double at_most[] = {9.3, 13.2, 8.8, 42, 42, 13.2};
  for (size_t i = 0; i < std::size(kLinks); ++i) {
    const auto& [name, link] = kLinks[i];
    for (const bool fill : {false, true}) {
      EXPECT_LE(Try("import_torch", name, link, {.fill = fill, .replay = true}).ready, at_most[i]) << name;
    }
  }
}

TEST_P(RecordStrategies, TheOrderOfNeedBeatsThatOfOffsetOnEveryLink) {
  for (const auto& [name, link] : kLinks) {
    std::printf("%s on %s\n", GetParam(), name);
    const Outcome need = Try(GetParam(), "by need", link, {.replay = true});
    const Outcome offset = Try(GetParam(), "by offset", link, {.replay = true, .by_offset = true});
    EXPECT_LE(need.ready, offset.ready) << name;
  }
}

// Nothing is asserted: these are the rooms' constants, and what they would cost otherwise.
TEST_P(RecordStrategies, WhatOtherConstantsWouldCost) {
  for (const auto& [name, link] : kLinks) {
    std::printf("%s on %s\n", GetParam(), name);
    const auto with = [&, link = link](const std::string& what,
                                       const std::function<void(ImageReplay::Options&)>& change) {
      Strategy strategy{.replay = true};
      change(strategy.options);
      Try(GetParam(), what.c_str(), link, strategy);
    };
    for (const uint64_t mib : {8, 24, 48, 96}) {
      with(std::to_string(mib) + " MiB asked for", [&](auto& options) { options.window = mib << 20; });
    }
    for (const uint64_t ms : {0, 500, 2'000, 100'000}) {
      with("together in " + std::to_string(ms) + " ms", [&](auto& options) { options.plan.together_us = ms * 1'000; });
    }
    for (const uint64_t mib : {1, 8, 32}) {
      with("steps of " + std::to_string(mib) + " MiB", [&](auto& options) { options.plan.step_bytes = mib << 20; });
    }
  }
}

}  // namespace
}  // namespace soci::test
