// `import torch`, replayed over the links of the benchmarks: what the product's strategies cost, as counts, bytes and
// virtual time. Each run prints its figures; try strategies here before building them.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/model/fetch/programs.h"

namespace soci::test {
namespace {

struct Cost {
  double ready = 0;  // seconds from the pull
  size_t waits = 0;
  uint64_t misses = 0;
  double megabytes = 0;
  uint64_t requests = 0;
};

const ProgramTrace& Trace() {
  static const ProgramTrace trace = ProgramTrace::Load("import_torch");
  return trace;
}

Cost Import(const char* name, const SimulationOptions& options, bool fill) {
  Simulation simulation(options);
  for (const SpanMap& map : Trace().layers) simulation.Add(map);
  Program program(simulation, Trace().reads);
  if (fill) {
    for (auto& layer : simulation.layers()) layer->StartFill();
  }
  simulation.After(std::chrono::seconds(1), [&] { program.Start(); });  // until then the container is made
  EXPECT_TRUE(simulation.RunUntil([&] { return program.done(); }));
  const FetchCounters& counters = simulation.scheduler().counters();
  const Cost cost{program.done_at(), program.waits(), counters.demand_misses,
                  static_cast<double>(simulation.link().bytes() * kScale) / 1e6, simulation.link().requests()};
  std::printf("%-18s ready %5.2f s, %3zu waits, %3zu misses, %2zu overtaken, %4.0f MB (%2.0f twice), %3zu requests\n",
              name, cost.ready, cost.waits, size_t{cost.misses}, size_t{counters.overtaken}, cost.megabytes,
              static_cast<double>(counters.bytes_twice * kScale) / 1e6, size_t{cost.requests});
  return cost;
}

SimulationOptions On(const LinkProfile& link) {
  SimulationOptions options;
  options.link = link;
  return options;
}

TEST(ImportTorch, TheTraceIsTheRecordedOne) {
  EXPECT_EQ(Trace().reads.size(), 12'553u);
  EXPECT_NEAR(static_cast<double>(Trace().touched().spans), 309, 2);
  EXPECT_NEAR(static_cast<double>(Trace().touched().bytes) / 1e6, 491, 10);
}

TEST(ImportTorch, WithoutFillGuessesSaveHalfOfTheMissesForLessThanTheAllowedBytes) {
  const double touched = static_cast<double>(Trace().touched().bytes) / 1e6;
  for (const auto& [name, link] : {std::pair("A, no fill", kLinkA), {"B, no fill", kLinkB}, {"C, no fill", kLinkC}}) {
    SimulationOptions options = On(link);
    const Cost guessed = Import(name, options, false);
    options.read_ahead.neighbours = 0;
    const Cost demanded = Import("  only demand", options, false);
    EXPECT_LE(guessed.megabytes, 1.7 * touched);
    EXPECT_LE(guessed.waits, 200u);
    EXPECT_LE(guessed.misses, demanded.misses * 55 / 100);
    EXPECT_LE(guessed.ready, 0.8 * demanded.ready);
  }
}

// With thirty-two connections for fill, whatever they brought, these took 22, 42 and 13 seconds.
TEST(ImportTorch, FillHelpsOnEveryLink) {
  const struct {
    const char* name;
    LinkProfile link;
    double at_most;
  } rows[] = {{"A, fill", kLinkA, 16}, {"B, fill", kLinkB, 30}, {"C, fill", kLinkC, 12.5}};
  for (const auto& [name, link, at_most] : rows) {
    const Cost cost = Import(name, On(link), true);
    EXPECT_LE(cost.ready, at_most) << name;
    EXPECT_LE(cost.misses, 90u) << name;
    EXPECT_LE(cost.waits, 140u) << name;
  }
}

// The speed gate: the whole way from a read to the link, on a recorded program and a virtual clock, so that a busy
// machine changes nothing. Whoever makes it better lowers a row; whoever makes it a tenth worse has to say why.
TEST(ImportTorch, E12_NothingIsATenthSlowerThanInTheVersionBefore) {
  constexpr double kMostLoss = 1.10;
  const struct {
    const char* name;
    LinkProfile link;
    bool fill;
    Cost kept;
  } rows[] = {{"A, no fill", kLinkA, false, {19.44, 184, 150, 789, 301}},
              {"B, no fill", kLinkB, false, {40.38, 190, 150, 789, 301}},
              {"C, no fill", kLinkC, false, {14.96, 187, 150, 789, 301}},
              {"A, fill", kLinkA, true, {15.16, 112, 57, 1782, 357}},
              {"B, fill", kLinkB, true, {26.76, 114, 66, 1366, 301}},
              {"C, fill", kLinkC, true, {11.37, 103, 60, 2331, 441}}};
  for (const auto& [name, link, fill, kept] : rows) {
    const Cost now = Import(name, On(link), fill);
    EXPECT_LE(now.ready, kMostLoss * kept.ready) << name;
    EXPECT_LE(static_cast<double>(now.waits), kMostLoss * static_cast<double>(kept.waits)) << name;
    EXPECT_LE(static_cast<double>(now.misses), kMostLoss * static_cast<double>(kept.misses)) << name;
    EXPECT_LE(static_cast<double>(now.requests), kMostLoss * static_cast<double>(kept.requests)) << name;
    if (fill) continue;  // what fill brings is wanted
    EXPECT_LE(now.megabytes, kMostLoss * kept.megabytes) << name;
  }
}

struct End {
  double ready = 0;     // seconds from the pull
  double complete = 0;  // all layers
  double left = 0;      // megabytes that were left to hash then, of the worst layer
};

// `slow`: how much more the program thinks.
End ImportToTheEnd(const char* name, const SimulationOptions& options, int slow) {
  Simulation simulation(options);
  for (const SpanMap& map : Trace().layers) simulation.Add(map);
  std::vector<ProgramRead> reads = Trace().reads;
  for (ProgramRead& read : reads) read.think *= slow;
  Program program(simulation, reads);
  for (auto& layer : simulation.layers()) layer->StartFill();
  simulation.After(std::chrono::seconds(1), [&] { program.Start(); });
  const auto all_complete = [&] {
    return std::all_of(simulation.layers().begin(), simulation.layers().end(),
                       [](const auto& layer) { return layer->complete_at().has_value(); });
  };
  EXPECT_TRUE(simulation.RunUntil([&] { return all_complete() && program.done(); }));
  End end{program.done_at(), 0, 0};
  for (auto& layer : simulation.layers()) {
    const double at = std::chrono::duration<double>(*layer->complete_at() - Clock::TimePoint()).count();
    end.complete = std::max(end.complete, at);
    end.left = std::max(end.left, static_cast<double>(layer->left_to_hash() * kScale) / 1e6);
  }
  std::printf("%s, thinks x%d: ready %5.2f s, complete %5.2f s, %4.0f MB left to hash\n", name, slow, end.ready,
              end.complete, end.left);
  return end;
}

// With a fill that went on from the last miss until its second of quiet, or to the layer's end, this was 1,218.
TEST(ImportTorch, LittleIsLeftToHashWhenTheLastByteIsHere) {
  for (const auto& [name, link] : {std::pair("A", kLinkA), {"B", kLinkB}, {"C", kLinkC}}) {
    for (const double decode_rate : {450e6, 900e6}) {  // one core, two
      for (const int slow : {1, 2, 4}) {
        SimulationOptions options = On(link);
        options.decode_rate = decode_rate;
        EXPECT_LE(ImportToTheEnd(name, options, slow).left, 150) << name << ", thinks x" << slow;
      }
    }
  }
}

TEST(ImportTorch, TheSameRunTwiceIsTheSameRun) {
  const Cost once = Import("A, fill", On(kLinkA), true);
  const Cost again = Import("A, fill", On(kLinkA), true);
  EXPECT_EQ(once.ready, again.ready);
  EXPECT_EQ(once.waits, again.waits);
  EXPECT_EQ(once.requests, again.requests);
}

}  // namespace
}  // namespace soci::test
