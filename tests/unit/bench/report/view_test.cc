#include "bench/report/view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/report/tables.h"
#include "tests/unit/bench/report/sample.h"

namespace soci::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ScenarioView, SummarisesEachPointOfEachMode) {
  const ScenarioView view = MakeView(MakeScenario());
  ASSERT_EQ(view.modes.size(), 3u);
  EXPECT_THAT(view.points, ElementsAre("first output", "ready"));
  const PointView* ready = view.modes[1].FindPoint("ready");
  ASSERT_NE(ready, nullptr);
  EXPECT_DOUBLE_EQ(ready->seconds.median, 2.1);
  EXPECT_DOUBLE_EQ(ready->seconds.min, 2);
  EXPECT_DOUBLE_EQ(ready->seconds.max, 2.2);
  EXPECT_EQ(ready->requests.median, 100);
}

TEST(ScenarioView, SetsOursBesideTheirsAndTheFloor) {
  const ScenarioView view = MakeView(MakeScenario());
  const Ratio* theirs = view.FindRatio("ready", "lazy", "containerd");
  const Ratio* floor = view.FindRatio("ready", "lazy", "local");
  ASSERT_TRUE(theirs != nullptr && floor != nullptr);
  EXPECT_DOUBLE_EQ(theirs->ours_by_other, 0.05);
  EXPECT_DOUBLE_EQ(floor->ours_by_other, 2);
  EXPECT_EQ(floor->role, Role::kFloor);
  EXPECT_FALSE(theirs->overlap);
  EXPECT_EQ(view.FindRatio("ready", "containerd", "local"), nullptr);
}

TEST(ScenarioView, SpreadsThatOverlapShowNoDifference) {
  Scenario scenario = MakeScenario();
  scenario.runs.push_back(MakeRun("local", 3, 5, 0, 0));
  EXPECT_TRUE(MakeView(scenario).FindRatio("ready", "lazy", "local")->overlap);
  EXPECT_THAT(MakeView(scenario).Headlines().at(0), HasSubstr("no difference shown from local"));
}

TEST(ScenarioView, FailedRunsCountForNothingButAreTold) {
  Scenario scenario = MakeScenario();
  bench::Run failed = MakeRun("lazy", 3, 1000, 1, 1);
  failed.error = "never ready";
  scenario.runs.push_back(failed);
  const ScenarioView view = MakeView(scenario);
  EXPECT_EQ(view.modes[1].runs, 2u);
  EXPECT_DOUBLE_EQ(view.modes[1].FindPoint("ready")->seconds.max, 2.2);
  EXPECT_THAT(view.modes[1].errors, ElementsAre("run 3: never ready"));
}

TEST(ScenarioView, AModeThatAlwaysFailedHasNoPoints) {
  Scenario scenario;
  scenario.runs.push_back(MakeRun("lazy", 1, 1, 1, 1));
  scenario.runs[0].error = "lost";
  const ScenarioView view = MakeView(scenario);
  EXPECT_TRUE(view.modes[0].points.empty());
  EXPECT_EQ(view.MainPoint(), "");
  EXPECT_TRUE(view.Headlines().empty());
}

TEST(ScenarioView, TheHeadlineSaysHowOursCompares) {
  EXPECT_THAT(MakeView(MakeScenario()).Headlines(),
              ElementsAre("lazy: ready after 2.10 s, 20.0 times as fast as containerd, 2.00 times as long as local."));
}

TEST(ScenarioView, OnlyLazyAndFullAreOurs) {
  EXPECT_EQ(RoleOf("lazy"), Role::kOurs);
  EXPECT_EQ(RoleOf("lazy without fill"), Role::kOurs);
  EXPECT_EQ(RoleOf("full"), Role::kOurs);
  EXPECT_EQ(RoleOf("lazybones"), Role::kTheirs);
  EXPECT_EQ(RoleOf("containerd"), Role::kTheirs);
  EXPECT_EQ(RoleOf("local"), Role::kFloor);
}

TEST(ScenarioView, KnowsWhoseAModeIs) {
  for (const char* ours : {"lazy", "full", "lazy+replay", "lazy, cached", "full cached"}) {
    EXPECT_EQ(RoleOf(ours), Role::kOurs) << ours;
  }
  for (const char* theirs : {"containerd", "soci", "lazier", "fuller", ""}) {
    EXPECT_EQ(RoleOf(theirs), Role::kTheirs) << theirs;
  }
  EXPECT_EQ(RoleOf("local"), Role::kFloor);
}

TEST(ReportText, FiguresHaveThreeDigits) {
  EXPECT_EQ(ThreeDigits(0), "0");
  EXPECT_EQ(ThreeDigits(0.0123), "0.012");
  EXPECT_EQ(ThreeDigits(9.996), "10.0");
  EXPECT_EQ(ThreeDigits(128.4), "128");
  EXPECT_EQ(Bytes(999), "999 B");
  EXPECT_EQ(Bytes(999'600), "1.00 MB");
  EXPECT_EQ(Spread({3, 2, 1, 3}, Unit::kSeconds), "2.00 s (1.00-3.00)");
  EXPECT_EQ(Spread({3, 1000, 999, 2000}, Unit::kBytes), "1.00 kB (999 B-2.00 kB)");
  EXPECT_EQ(Spread({3, 7, 7, 7}, Unit::kCount), "7");
  EXPECT_EQ(RatioText(0.05), "1 : 20.0");
  EXPECT_EQ(RatioText(1.5), "1.50 : 1");
}

TEST(ReportText, HostileTextBecomesHarmless) {
  EXPECT_EQ(EscapeHtml("<script>\"&'"), "&lt;script&gt;&quot;&amp;&#39;");
  EXPECT_EQ(EscapeHtml("a\x01\xff\xc3"), "a???");
  EXPECT_EQ(EscapeHtml("\xc3\xa4"), "\xc3\xa4");
  EXPECT_EQ(OneLine("a\nb\x1b[2J"), "a?b?[2J");
}

TEST(View, HostsThatBeganTogetherAreSummarisedOneByOne) {
  Scenario scenario = MakeScenario();
  bench::Run& lazy = scenario.runs[1];
  lazy.hosts = {{{{"ready", 1.5, {}}}, ""}, {{{"ready", 2, {}}}, ""}, {{{"ready", 1, {}}}, ""}};
  const std::string text = HostTable(MakeView(scenario)).ToText();
  EXPECT_NE(text.find("1.50 s (1.00-2.00)"), std::string::npos) << text;
  EXPECT_TRUE(HostTable(MakeView(MakeScenario())).empty());
}

TEST(View, AllBytesAreSetBesideAPlainDownload) {
  Scenario scenario = MakeScenario();
  EXPECT_TRUE(DownloadTable(MakeView(scenario)).empty()) << "nobody waited until all was local";
  for (bench::Run& run : scenario.runs) run.points.push_back({"fully local", 11.2, {}});
  const std::string text = DownloadTable(MakeView(scenario)).ToText();
  EXPECT_NE(text.find("2.00 : 1"), std::string::npos) << text;
}

TEST(View, WhatWasThereAlreadyIsNoMeasureOfOthers) {
  Scenario scenario = MakeScenario();
  for (bench::Run& run : scenario.runs) run.points.push_back({"fully local", run.mode == "local" ? 1e-5 : 9, {}});
  const ScenarioView view = MakeView(scenario);
  EXPECT_NE(view.FindRatio("fully local", "lazy", "containerd"), nullptr);
  EXPECT_EQ(view.FindRatio("fully local", "lazy", "local"), nullptr);
}

TEST(View, AScenarioWithoutARegistryHasNoTableOfTraffic) {
  Scenario scenario = MakeScenario();
  EXPECT_FALSE(TrafficTable(MakeView(scenario)).empty());
  for (bench::Run& run : scenario.runs) {
    for (Point& point : run.points) point.traffic = {};
  }
  EXPECT_TRUE(TrafficTable(MakeView(scenario)).empty());
}

TEST(View, ThatNothingFailedIsSaidToo) {
  Scenario scenario = MakeScenario();
  for (bench::Run& run : scenario.runs) run.counts = {{"failed_reads", 0}, {"soci_hedges_total", 0}};
  const std::string text = FigureTable(MakeView(scenario)).ToText();
  EXPECT_NE(text.find("failed reads"), std::string::npos) << text;
  EXPECT_EQ(text.find("soci_hedges_total"), std::string::npos) << text;
  EXPECT_THAT(MakeView(scenario).Headlines(), ::testing::Contains("lazy: 0 reads failed."));
}

}  // namespace
}  // namespace soci::bench
