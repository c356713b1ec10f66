// What the scheduler decides when several want the link: urgency, fairness, room for who waits, and ends.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/model/fetch/programs.h"

namespace soci::test {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr uint64_t kGiB = uint64_t{1} << 30;
constexpr uint64_t kMiB = uint64_t{1} << 20;

SimulationOptions On(const LinkProfile& link) {
  SimulationOptions options;
  options.link = link;
  return options;
}

double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

struct Foreground {
  double median_wait = 0;       // seconds
  double lower_bytes_each = 0;  // real ones that came while a read waited
};

// Cold pages of one layer while another is filled, or not.
Foreground ReadColdPages(const LinkProfile& link, bool fill) {
  SimulationOptions options = On(link);
  options.read_ahead = {0, 0};
  Simulation simulation(options);
  simulation.Add(SpanMap::Even(400, 2 * kMiB, 4 * kMiB));
  SimulatedLayer& filled = simulation.Add(SpanMap::Even(2000, 2 * kMiB, 4 * kMiB));
  if (fill) filled.StartFill();
  std::vector<ProgramRead> reads;
  for (uint64_t i = 0; i < 60; ++i) {
    const uint64_t begin = (i * 37 % 400) * 4 * kMiB;
    reads.push_back({milliseconds(100), 0, InodeId{2}, {0, 400 * 4 * kMiB}, {begin, begin + 4096}});
  }
  Program program(simulation, reads);
  simulation.After(seconds(3), [&] { program.Start(); });
  EXPECT_TRUE(simulation.RunUntil([&] { return program.done(); }));
  return {Median(program.waited()), static_cast<double>(simulation.link().lower_bytes_while_watched() * kScale) / 60};
}

TEST(Scheduling, E9_WhoWaitsIsServedAlmostAsIfThereWereNoFill) {
  constexpr LinkProfile kSlow{.delay = milliseconds(20), .connection_rate = 12.5e6, .total_rate = 12.5e6};
  for (const auto& [name, link] : {std::pair("A", kLinkA), {"B", kLinkB}, {"C", kLinkC}, {"100 Mbit/s (E9)", kSlow}}) {
    const Foreground alone = ReadColdPages(link, false);
    const Foreground beside = ReadColdPages(link, true);
    std::printf("%s: %.1f ms alone, %.1f ms beside fill, %.1f MB of others while it waits\n", name,
                alone.median_wait * 1e3, beside.median_wait * 1e3, beside.lower_bytes_each / 1e6);
    EXPECT_LE(beside.median_wait, 1.5 * alone.median_wait) << name;
  }
}

TEST(Scheduling, E1_AFileReadInOrderComesAtTheSpeedOfTheLink) {
  for (const auto& [name, link] : {std::pair("A", kLinkA), {"B", kLinkB}}) {
    for (const bool fill : {false, true}) {
      for (const uint64_t compressed : {4 * kMiB, 2 * kMiB}) {
        SimulationOptions options = On(link);
        options.decode_rate = 900e6;  // two cores
        Simulation simulation(options);
        SimulatedLayer& layer = simulation.Add(SpanMap::Even(512, compressed, 4 * kMiB));
        if (fill) layer.StartFill();
        Program program(simulation, ReadInOrder(2 * kGiB, microseconds(30)));
        program.Start();
        ASSERT_TRUE(simulation.RunUntil([&] { return program.done(); }));
        const double plain = 512.0 * static_cast<double>(compressed) / link.total_rate;
        std::printf("%s%s: %.2f s, %.3f of the plain download, %zu requests\n", name, fill ? ", fill" : "",
                    program.done_at(), program.done_at() / plain, size_t{simulation.link().requests()});
        EXPECT_LE(program.done_at(), 1.1 * plain) << name;
        EXPECT_LE(simulation.link().bytes() * kScale, 515 * compressed);
      }
    }
  }
}

TEST(Scheduling, RandomReadsFetchLittleMoreThanWhatTheyTouch) {
  Simulation simulation(On(kLinkA));
  SimulatedLayer& layer = simulation.Add(SpanMap::Even(4000, 2 * kMiB, 4 * kMiB));
  const std::vector<ProgramRead> reads = ReadAtRandom(4000 * 4 * kMiB, 2000, microseconds(100), 7);
  std::vector<bool> touched(4000);
  for (const ProgramRead& read : reads) touched[ToIndex(layer.table().SpanAt(read.wanted.begin))] = true;
  Program program(simulation, reads);
  program.Start();
  ASSERT_TRUE(simulation.RunUntil([&] { return program.done(); }));
  const auto spans = static_cast<uint64_t>(std::count(touched.begin(), touched.end(), true));
  EXPECT_LE(simulation.link().bytes() * kScale, spans * 2 * kMiB * 105 / 100);
}

TEST(Scheduling, FillRunsAtTheRateOfTheLink) {
  for (const auto& [name, link] : {std::pair("A", kLinkA), {"B", kLinkB}, {"C", kLinkC}}) {
    SimulationOptions options = On(link);
    options.decode_rate = 2e9;
    Simulation simulation(options);
    SimulatedLayer& layer = simulation.Add(SpanMap::Even(1000, 2 * kMiB, 4 * kMiB));
    layer.StartFill();
    ASSERT_TRUE(simulation.RunUntil([&] { return layer.complete_at().has_value(); }));
    EXPECT_LE(simulation.now_seconds(), 1.12 * 2000.0 * kMiB / link.total_rate) << name;
    EXPECT_LE(simulation.link().most_open(), 14u) << name;
    std::printf("%s: %.2f s, %.3f, at most %zu connections, at last %u\n", name, simulation.now_seconds(),
                simulation.now_seconds() * link.total_rate / (2000.0 * kMiB), simulation.link().most_open(),
                simulation.scheduler().FindHost("registry").connections.limit());
  }
}

TEST(Scheduling, AHostWhoseConnectionsAreSlowIsAskedOnMore) {
  constexpr LinkProfile kThrottled{.delay = milliseconds(50), .connection_rate = 6e6, .total_rate = 100e6};
  SimulationOptions options = On(kThrottled);
  options.decode_rate = 2e9;
  Simulation simulation(options);
  SimulatedLayer& layer = simulation.Add(SpanMap::Even(2000, 2 * kMiB, 4 * kMiB));
  layer.StartFill();
  ASSERT_TRUE(simulation.RunUntil([&] { return layer.complete_at().has_value(); }));
  EXPECT_LE(simulation.now_seconds(), 1.25 * 4000.0 * kMiB / kThrottled.total_rate);
  EXPECT_GE(simulation.link().most_open(), 16u);
}

// Somebody reads one image all the time; the other is filled all the same.
TEST(Scheduling, TwoImagesThatAreFilledBothGetOn) {
  SimulationOptions options = On(kLinkA);
  options.read_ahead = {0, 0};
  Simulation simulation(options);
  SimulatedLayer& read = simulation.Add(SpanMap::Even(1000, 2 * kMiB, 4 * kMiB));
  SimulatedLayer& quiet = simulation.Add(SpanMap::Even(1000, 2 * kMiB, 4 * kMiB));
  read.StartFill();
  quiet.StartFill();
  std::vector<ProgramRead> reads;
  for (uint64_t i = 0; i < 60; ++i) {
    const uint64_t begin = (i * 371 % 1000) * 4 * kMiB;
    reads.push_back({milliseconds(100), 0, InodeId{2}, {0, 4000 * kMiB}, {begin, begin + 4096}});
  }
  Program program(simulation, reads);
  program.Start();
  ASSERT_TRUE(simulation.RunUntil([&] { return program.done(); }));
  const double share = static_cast<double>(quiet.store().present_count()) /
                       static_cast<double>(quiet.store().present_count() + read.store().present_count());
  EXPECT_GE(share, 0.15);
  EXPECT_LE(share, 0.5);
  EXPECT_TRUE(simulation.RunUntil([&] { return read.complete_at() && quiet.complete_at(); }));
}

TEST(Scheduling, ManyReadersOfOneLayerDoNotStarveTheReaderOfAnother) {
  SimulationOptions options = On(kLinkB);
  options.read_ahead = {0, 0};
  Simulation simulation(options);
  SimulatedLayer& crowded = simulation.Add(SpanMap::Even(1000, 2 * kMiB, 4 * kMiB));
  SimulatedLayer& single = simulation.Add(SpanMap::Even(1000, 2 * kMiB, 4 * kMiB));
  size_t crowd_answers = 0, crowd_before = 0;
  bool answered = false;
  for (uint32_t i = 0; i < 200; ++i) {
    crowded.fetcher().Get(SpanId{i * 5}, FetchClass::kDemand, [&](auto) { ++crowd_answers; });
  }
  simulation.RunFor(milliseconds(500));
  single.fetcher().Get(SpanId{7}, FetchClass::kDemand, [&](auto) {
    answered = true;
    crowd_before = crowd_answers;
  });
  ASSERT_TRUE(simulation.RunUntil([&] { return answered; }));
  EXPECT_LE(crowd_before, 50u);
  EXPECT_TRUE(simulation.RunUntil([&] { return crowd_answers == 200; }));
}

// A program that never stops waiting does not stop fill for good.
TEST(Scheduling, FillGetsOnBesideAProgramThatAlwaysWaits) {
  SimulationOptions options = On(kLinkB);
  options.read_ahead = {0, 0};
  Simulation simulation(options);
  SimulatedLayer& layer = simulation.Add(SpanMap::Even(3000, 2 * kMiB, 4 * kMiB));
  layer.StartFill();
  Program program(simulation, ReadAtRandom(3000 * 4 * kMiB, 300, microseconds(0), 3));
  program.Start();
  ASSERT_TRUE(simulation.RunUntil([&] { return program.done(); }));
  EXPECT_GE(layer.store().present_count(), 500u);
}

TEST(Scheduling, ARequestThatHangsIsAskedASecondTime) {
  for (const bool slow : {false, true}) {
    LinkProfile link = kLinkA;
    link.slow_share = slow ? 0.02 : 0;
    link.slow_delay = seconds(5);
    SimulationOptions options = On(link);
    options.read_ahead = {0, 0};
    Simulation simulation(options);
    simulation.Add(SpanMap::Even(3000, 2 * kMiB, 4 * kMiB));
    std::vector<ProgramRead> reads;
    for (uint64_t i = 0; i < 1000; ++i) {
      const uint64_t begin = i * 3 * 4 * kMiB;
      reads.push_back({milliseconds(10), 0, InodeId{2}, {0, 12000 * kMiB}, {begin, begin + 4096}});
    }
    Program program(simulation, reads);
    program.Start();
    ASSERT_TRUE(simulation.RunUntil([&] { return program.done(); }));
    const uint64_t hedges = simulation.scheduler().counters().hedges;
    const auto hung =
        std::count_if(program.waited().begin() + 50, program.waited().end(), [](double wait) { return wait > 1; });
    std::printf("%s: %zu hedges, %zu waits of more than a second\n", slow ? "2 % hang" : "none hangs", size_t{hedges},
                static_cast<size_t>(hung));
    EXPECT_LE(hung, 1) << "a hedge may hang as well";
    EXPECT_EQ(simulation.link().requests(), 1000 + hedges);
    EXPECT_GE(hedges, slow ? 10u : 0u);
    EXPECT_LE(hedges, slow ? 50u : 5u);
  }
}

TEST(Scheduling, ALayerThatGoesAwayTakesItsTransfersAlong) {
  Simulation simulation(On(kLinkA));
  SimulatedLayer& going = simulation.Add(SpanMap::Even(500, 2 * kMiB, 4 * kMiB));
  SimulatedLayer& staying = simulation.Add(SpanMap::Even(500, 2 * kMiB, 4 * kMiB));
  going.StartFill();
  simulation.RunFor(seconds(1));
  EXPECT_GT(simulation.link().open(), 0u);
  Status answer;
  going.fetcher().Get(SpanId{400}, FetchClass::kDemand, [&](auto got) { answer = got.status(); });
  going.Close();
  EXPECT_TRUE(absl::IsCancelled(answer));
  EXPECT_EQ(simulation.link().open(), 0u);
  EXPECT_EQ(simulation.scheduler().decoded_bytes(), 0u);
  staying.StartFill();
  EXPECT_TRUE(simulation.RunUntil([&] { return staying.complete_at().has_value(); }));
}

TEST(Scheduling, FillThatIsStoppedLeavesTheLink) {
  Simulation simulation(On(kLinkA));
  SimulatedLayer& layer = simulation.Add(SpanMap::Even(500, 2 * kMiB, 4 * kMiB));
  layer.StartFill();
  simulation.RunFor(seconds(1));
  layer.fetcher().StopFill();
  simulation.RunFor(milliseconds(1));
  EXPECT_EQ(simulation.link().open(), 0u);
  const uint64_t bytes = simulation.link().bytes();
  simulation.RunFor(seconds(5));
  EXPECT_EQ(simulation.link().bytes(), bytes);
}

}  // namespace
}  // namespace soci::test
