// A replay ahead of its program: in the order of need on links that are slower than the program, and on cores that have
// nothing better to do.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/model/fetch/simulated_replay.h"

namespace soci::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kSpan = 4 * kMiB;        // uncompressed
constexpr uint64_t kCompressed = 2 * kMiB;  // takes 168 ms
constexpr uint32_t kSpans = 100;            // of each of two layers, a file in each
constexpr LinkProfile kSlow{.delay = milliseconds(20), .connection_rate = 12.5e6, .total_rate = 12.5e6};

std::vector<std::vector<UncompressedRange>> Files() {
  std::vector<UncompressedRange> files;
  for (uint64_t i = 0; i < kSpans; ++i) files.push_back({i * kSpan, (i + 1) * kSpan});
  return {files, files};
}

// Now of one layer, now of the other, in an order that has nothing to do with where it lies.
std::vector<ProgramRead> Scattered(size_t count, milliseconds think) {
  std::vector<ProgramRead> reads;
  for (size_t i = 0; i < count; ++i) {
    const uint64_t span = (i * 37 + 11) % kSpans;
    reads.push_back({think,
                     static_cast<uint32_t>(i % 2),
                     InodeId{span + 2},
                     {span * kSpan, (span + 1) * kSpan},
                     {span * kSpan, span * kSpan + 4096}});
  }
  return reads;
}

struct TwoLayers {
  explicit TwoLayers(const LinkProfile& link, double decode_rate = 450e6) : simulation(OptionsOf(link, decode_rate)) {
    for (const auto& files : Files()) simulation.Add(SpanMap::Even(kSpans, kCompressed, kSpan), "registry", files);
  }
  static SimulationOptions OptionsOf(const LinkProfile& link, double decode_rate) {
    SimulationOptions options;
    options.link = link;
    options.read_ahead = {0, 0};
    options.decode_rate = decode_rate;
    return options;
  }
  Simulation simulation;
};

struct Ahead {
  size_t waits = 0;
  double waited = 0;  // seconds
  ReplayCounts counts;
  std::vector<SimulatedReplay::Span> came;
};

// A span takes 168 ms, the program thinks 200 ms before each.
Ahead RunOnASlowLink(bool by_need) {
  TwoLayers image(kSlow);
  const std::vector<ProgramRead> reads = Scattered(60, milliseconds(200));
  const Record record = RecordOf(reads, Files());
  SimulatedReplay replay(image.simulation, by_need ? record : InOrderOfOffset(record, Files()));
  replay.Join();
  Program program(image.simulation, reads);
  image.simulation.After(seconds(2), [&] { program.Start(); });
  EXPECT_TRUE(image.simulation.RunUntil([&] { return program.done(); }));
  Ahead ahead{program.waits(), 0, replay.Report().counts, replay.came()};
  for (const double wait : program.waited()) ahead.waited += wait;
  return ahead;
}

TEST(ReplayOnASlowLink, StaysAheadByTheTimeThatTheProgramThinks) {
  const Ahead ahead = RunOnASlowLink(true);
  const Ahead by_offset = RunOnASlowLink(false);
  std::printf("by need %zu waits, %.2f s; by offset %zu waits, %.2f s, %zu misses\n", ahead.waits, ahead.waited,
              by_offset.waits, by_offset.waited, size_t{by_offset.counts.misses});
  EXPECT_EQ(ahead.counts.misses, 0u);
  EXPECT_LE(ahead.counts.late, 6u) << "those of the beginning";
  EXPECT_LE(ahead.waited, by_offset.waited);
  EXPECT_GT(by_offset.counts.misses, 0u);
}

constexpr LinkProfile kFast{.delay = milliseconds(1), .connection_rate = 1e9, .total_rate = 4e9};
constexpr double kSlowCore = 45e6;  // 93 ms for a span

TEST(DecodingAhead, TheIdleCoreDecodesWhatNobodyReadsYet) {
  TwoLayers image(kFast, kSlowCore);
  const std::vector<ProgramRead> reads = Scattered(60, milliseconds(1));
  SimulatedReplay replay(image.simulation, RecordOf(reads, Files()));
  replay.Join();
  image.simulation.RunFor(seconds(10));
  EXPECT_EQ(replay.came().size(), 60u);
  Program program(image.simulation, reads);
  program.Start();
  ASSERT_TRUE(image.simulation.RunUntil([&] { return program.done(); }));
  EXPECT_EQ(program.waits(), 0u);
  EXPECT_EQ(replay.Report().counts.hits, 60u);
}

TEST(DecodingAhead, NoSpanOfAReplayIsDecodedBeforeOneThatSomeoneWaitsFor) {
  TwoLayers image(kFast, kSlowCore);
  const std::vector<ProgramRead> reads = Scattered(60, milliseconds(1));
  SimulatedReplay replay(image.simulation, RecordOf(reads, Files()));
  replay.Join();
  image.simulation.RunFor(milliseconds(150));
  ASSERT_TRUE(image.simulation.scheduler().HasDecodes());
  const auto decoded_before = [&](SpanId span) {
    const size_t before = replay.came().size();
    std::optional<size_t> then;
    image.simulation.layers()[0]->fetcher().Get(span, FetchClass::kDemand, [&](auto) { then = replay.came().size(); });
    EXPECT_TRUE(image.simulation.RunUntil([&] { return then.has_value(); }));
    return *then - before;
  };
  // The fifth of its layer lies in memory and waits for the core; itself may count.
  const SpanId of_record{static_cast<uint32_t>(ToNumber(reads[8].file) - 2)};
  EXPECT_LE(decoded_before(of_record), 1u);
  SpanId other{};
  const auto recorded = [&](SpanId span) {
    return std::any_of(reads.begin(), reads.end(), [&](const ProgramRead& read) {
      return read.layer == 0 && ToNumber(read.file) - 2 == ToIndex(span);
    });
  };
  while (recorded(other)) other = Next(other);
  EXPECT_LE(decoded_before(other), 1u) << "the one that was being decoded when it came";
  EXPECT_LT(replay.came().size(), 60u) << "the replay was not over";
}

// The waits of a program that reads what is in no record, beside the replay of another layer.
std::vector<double> WaitsBeside(bool replayed) {
  TwoLayers image(kFast, kSlowCore);
  std::vector<ProgramRead> recorded, reads;
  for (const ProgramRead& read : Scattered(200, milliseconds(20))) {
    if (read.layer == 1) recorded.push_back(read);
    if (read.layer == 0 && reads.size() < 20) reads.push_back(read);
  }
  SimulatedReplay replay(image.simulation, RecordOf(recorded, Files()));
  if (replayed) replay.Join();
  Program program(image.simulation, reads);
  program.Start();
  EXPECT_TRUE(image.simulation.RunUntil([&] { return program.done(); }));
  return program.waited();
}

TEST(DecodingAhead, AReaderWaitsForOneSpanOfTheReplayAtMost) {
  const std::vector<double> alone = WaitsBeside(false), beside = WaitsBeside(true);
  ASSERT_EQ(alone.size(), beside.size());
  constexpr double kDecode = static_cast<double>(kSpan) / kSlowCore;
  for (size_t i = 0; i < alone.size(); ++i) EXPECT_LE(beside[i], alone[i] + 1.1 * kDecode) << i;
}

}  // namespace
}  // namespace soci::test
