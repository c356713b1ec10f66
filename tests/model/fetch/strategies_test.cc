// `import torch`, replayed over the links of the benchmarks: what the product's strategies cost, as counts, bytes and
// virtual time. Run with --gtest_filter='ImportTorch*' to see the figures when a strategy is to be chosen.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/model/fetch/programs.h"

namespace soci::test {
namespace {

struct Run {
  double ready = 0;
  size_t waits = 0;
  uint64_t misses = 0;
  uint64_t overtaken = 0;
  uint64_t requests = 0;
  double megabytes = 0;
  double twice = 0;
};

Run Import(const SimulationOptions& options, bool fill) {
  static const ImportTrace trace = ImportTrace::Load();
  Simulation simulation(options);
  for (const SpanMap& map : trace.layers) simulation.Add(map);
  Program program(simulation, trace.reads);
  if (fill) {
    for (auto& layer : simulation.layers()) layer->StartFill();
  }
  simulation.After(std::chrono::seconds(1), [&] { program.Start(); });  // the container is made
  EXPECT_TRUE(simulation.RunUntil([&] { return program.done(); }));
  const FetchCounters& counters = simulation.scheduler().counters();
  return {program.done_at(),
          program.waits(),
          counters.demand_misses,
          counters.overtaken,
          simulation.link().requests(),
          static_cast<double>(simulation.link().bytes() * kScale) / 1e6,
          static_cast<double>(counters.bytes_twice * kScale) / 1e6};
}

void Print(const char* link, const char* strategy, const Run& run) {
  std::printf(
      "%s %-14s ready %5.2f s  waits %4zu  misses %4zu  overtaken %3zu  requests %4zu  %5.0f MB  twice %.0f MB\n", link,
      strategy, run.ready, run.waits, size_t{run.misses}, size_t{run.overtaken}, size_t{run.requests}, run.megabytes,
      run.twice);
}

TEST(ImportTorch, Figures) {
  const struct {
    const char* name;
    LinkProfile link;
  } links[] = {{"A", kLinkA}, {"B", kLinkB}, {"C", kLinkC}};
  for (const auto& [name, link] : links) {
    SimulationOptions options;
    options.link = link;
    Print(name, "no fill", Import(options, false));
    Print(name, "fill", Import(options, true));
    options.read_ahead.neighbours = 0;
    Print(name, "only demand", Import(options, false));
  }
}

}  // namespace
}  // namespace soci::test
