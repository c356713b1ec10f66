#include "bench/report/guard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "bench/result/codec.h"
#include "tests/support/temporary_directory.h"
#include "tests/unit/bench/report/sample.h"

namespace soci::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Result Changed(const std::string& mode, void (*change)(bench::Run&)) {
  Result result = MakeResult();
  for (bench::Run& run : result.scenarios[0].runs) {
    if (run.mode == mode) change(run);
  }
  return result;
}

TEST(Guard, TheSameCountsHold) {
  const GuardVerdict verdict = Guard(MakeResult(), MakeResult());
  EXPECT_TRUE(verdict.Holds()) << verdict.text;
  EXPECT_GT(verdict.compared, 4u);
}

TEST(Guard, TenPercentMoreRequestsHoldAndElevenDoNot) {
  EXPECT_TRUE(
      Guard(MakeResult(), Changed("lazy", [](bench::Run& run) { run.points[1].traffic.requests = 110; })).Holds());
  const GuardVerdict lost =
      Guard(MakeResult(), Changed("lazy", [](bench::Run& run) { run.points[1].traffic.requests = 111; }));
  EXPECT_THAT(lost.losses, ElementsAre("start, lazy: requests until ready 111, was 100"));
}

TEST(Guard, BytesAndOtherCountsAreJudgedToo) {
  EXPECT_FALSE(Guard(MakeResult(), Changed("lazy", [](bench::Run& run) { run.points[0].traffic.bytes *= 2; })).Holds());
  EXPECT_FALSE(Guard(MakeResult(), Changed("lazy", [](bench::Run& run) { run.counts["spans fetched"] = 90; })).Holds());
  EXPECT_FALSE(
      Guard(MakeResult(), Changed("lazy", [](bench::Run& run) { run.resources.disk_written_bytes *= 2; })).Holds());
}

TEST(Guard, TimesAndMemoryAreNeverJudged) {
  const GuardVerdict verdict = Guard(MakeResult(), Changed("lazy", [](bench::Run& run) {
                                       for (Point& point : run.points) point.seconds *= 100;
                                       run.resources.daemon_cpu_seconds *= 100;
                                       run.resources.peak_anonymous_bytes *= 100;
                                     }));
  EXPECT_TRUE(verdict.Holds()) << verdict.text;
  EXPECT_THAT(verdict.text, HasSubstr("time until ready"));
}

TEST(Guard, WhatTheLinkDidOnPurposeIsNotJudged) {
  const auto turned = [](double bits) {
    Result result = MakeResult();
    for (bench::Run& run : result.scenarios[0].runs) run.counts["link_bits_turned"] = bits;
    return result;
  };
  EXPECT_TRUE(Guard(turned(10), turned(20)).Holds());
}

TEST(Guard, OthersMayLose) {
  EXPECT_TRUE(
      Guard(MakeResult(), Changed("containerd", [](bench::Run& run) { run.points[1].traffic.bytes *= 2; })).Holds());
}

TEST(Guard, ACountThatVariedWhenKeptProvesNothing) {
  Result kept = MakeResult();
  kept.scenarios[0].runs[1].points[1].traffic.requests = 50;  // of two repeats
  EXPECT_TRUE(
      Guard(kept, Changed("lazy", [](bench::Run& run) { run.points[1].traffic.requests = 200; })).losses.empty());
}

// A fast machine has filled more by the time that the work is done.
TEST(Guard, WhereFillRunsBesideTheWorkOnlyWhatTheWholeImageTakesIsJudged) {
  const auto filled = [](uint64_t until_ready, uint64_t whole) {
    Result result = MakeResult();
    for (bench::Run& run : result.scenarios[0].runs) {
      if (run.mode != "lazy") continue;
      run.points.back().traffic = {until_ready, until_ready / 1000, 5};
      run.points.push_back({"fully local", 9, {whole, 200, 5}});
      run.counts = {{"soci_fetched_spans_total{class=\"fill\"}", double(until_ready)},
                    {"soci_demand_misses_total", double(until_ready)}};
    }
    return result;
  };
  const GuardVerdict faster = Guard(filled(50'000'000, 700'000'000), filled(90'000'000, 700'000'000));
  EXPECT_TRUE(faster.Holds()) << faster.text;
  EXPECT_THAT(faster.text, HasSubstr("filled meanwhile, not judged"));
  EXPECT_THAT(Guard(filled(50'000'000, 700'000'000), filled(50'000'000, 800'000'000)).losses,
              ElementsAre("start, lazy: bytes until fully local 800 MB, was 700 MB"));
}

TEST(Guard, ReadsThatJoinedOthersAreAMatterOfTime) {
  Result kept = MakeResult(), now = MakeResult();
  for (bench::Run& run : kept.scenarios[0].runs) run.counts["soci_demand_joins_total"] = 21;
  for (bench::Run& run : now.scenarios[0].runs) run.counts["soci_demand_joins_total"] = 40;
  EXPECT_TRUE(Guard(kept, now).Holds()) << Guard(kept, now).text;
}

TEST(Guard, AModeThatFailsNowIsALoss) {
  const GuardVerdict verdict = Guard(MakeResult(), Changed("lazy", [](bench::Run& run) { run.error = "dead"; }));
  EXPECT_THAT(verdict.losses, ElementsAre("start, lazy: every run failed; run 1: dead"));
}

TEST(Guard, ACountThatIsGoneIsALoss) {
  const GuardVerdict verdict = Guard(MakeResult(), Changed("lazy", [](bench::Run& run) { run.counts.clear(); }));
  EXPECT_THAT(verdict.losses, ElementsAre("start, lazy: spans fetched is not counted any more"));
}

TEST(Guard, NothingInCommonDoesNotHold) {
  Result other = MakeResult();
  other.scenarios[0].image_bytes = 5;
  EXPECT_FALSE(Guard(MakeResult(), other).Holds());
  EXPECT_THAT(Guard(MakeResult(), other).losses, IsEmpty());
  EXPECT_FALSE(Guard(Result{}, MakeResult()).Holds());
}

TEST(Guard, AScenarioOverSeveralLinksIsComparedLinkByLink) {
  Result kept = MakeResult();
  kept.scenarios.push_back(MakeScenario());
  kept.scenarios[1].link = "B";
  Result now = kept;
  for (bench::Run& run : now.scenarios[1].runs) {
    if (run.mode == "lazy") run.counts["spans fetched"] = 90;
  }
  EXPECT_THAT(Guard(kept, now).losses, ElementsAre("start, lazy: spans fetched 90, was 60"));
}

// One of several that were kept: its date, and how many requests a lazy start took.
Result Kept(const std::string& date, uint64_t requests) {
  Result result = MakeResult();
  result.environment.date = date;
  result.scenarios[0].runs[1].points[1].traffic.requests = requests;
  return result;
}

uint64_t RequestsOf(const soci::Result<Result>& kept) {
  EXPECT_TRUE(kept.ok()) << kept.status();
  EXPECT_EQ(kept->scenarios.size(), 1u);
  return kept->scenarios.at(0).runs[1].points[1].traffic.requests;
}

TEST(Guard, OfSeveralWholeSetsTheNewestByDateCountsWhateverTheFilesAreCalled) {
  const test::TemporaryDirectory folder;
  // By name alone "0012-short.json" would be the last one.
  ASSERT_TRUE(WriteResult(Kept("2026-12-03T07:02:48Z", 7), folder.path() + "/0012-short.json").ok());
  ASSERT_TRUE(WriteResult(Kept("2026-12-03T12:00:00Z", 8), folder.path() + "/0012-short-again.json").ok());
  ASSERT_TRUE(WriteResult(Kept("2026-12-03T11:59:59Z", 9), folder.path() + "/0010-short.json").ok());
  EXPECT_EQ(RequestsOf(FindKept(folder.path(), MakeResult())), 8u);
}

TEST(Guard, OfSetsOfOneDateTheLastByNameCounts) {
  const test::TemporaryDirectory folder;
  ASSERT_TRUE(WriteResult(Kept("2026-12-03", 7), folder.path() + "/0012-short.json").ok());
  ASSERT_TRUE(WriteResult(Kept("2026-12-03", 8), folder.path() + "/0016-short.json").ok());
  EXPECT_EQ(RequestsOf(FindKept(folder.path(), MakeResult())), 8u);
}

TEST(Guard, ANewerResultOfOtherWorkDoesNotHideTheOneThatCompares) {
  const test::TemporaryDirectory folder;
  Result other = Kept("2026-12-04", 8);
  other.scenarios[0].image_bytes = 5;
  ASSERT_TRUE(WriteResult(Kept("2026-12-03", 7), folder.path() + "/0012-short.json").ok());
  ASSERT_TRUE(WriteResult(other, folder.path() + "/0016-short.json").ok());
  EXPECT_EQ(RequestsOf(FindKept(folder.path(), MakeResult())), 7u);
  // Without one it is shown, and what differs is said.
  std::filesystem::remove(folder.path() + "/0012-short.json");
  EXPECT_EQ(RequestsOf(FindKept(folder.path(), MakeResult())), 8u);
}

TEST(Guard, OfAFolderTheLastFileWithTheScenarioIsTheKeptOne) {
  const test::TemporaryDirectory folder;
  Result old = MakeResult();
  old.scenarios[0].runs[1].points[1].traffic.requests = 7;
  Result other = MakeResult();
  other.scenarios[0].name = "something else";
  ASSERT_TRUE(WriteResult(old, folder.path() + "/0001-start.json").ok());
  ASSERT_TRUE(WriteResult(MakeResult(), folder.path() + "/0002-start.json").ok());
  ASSERT_TRUE(WriteResult(other, folder.path() + "/0003-other.json").ok());
  const auto kept = FindKept(folder.path(), MakeResult());
  ASSERT_TRUE(kept.ok()) << kept.status();
  ASSERT_EQ(kept->scenarios.size(), 1u);
  EXPECT_EQ(kept->scenarios[0].runs[1].points[1].traffic.requests, 100u);
}

}  // namespace
}  // namespace soci::bench
