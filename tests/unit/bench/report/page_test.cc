#include "bench/report/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "bench/report/plots.h"
#include "bench/report/scale.h"
#include "bench/report/terminal.h"
#include "bench/report/timeline.h"
#include "tests/unit/bench/report/sample.h"

namespace soci::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(TerminalReport, ShowsTimesRatiosTrafficAndResources) {
  const std::string text = TerminalReport(MakeResult());
  EXPECT_THAT(text, HasSubstr("start: image S (700 MB, 1.80 GB unpacked), link A, work import, 2 runs of each mode"));
  EXPECT_THAT(text, HasSubstr("2.10 s (2.00-2.20)"));
  EXPECT_THAT(text, HasSubstr("1 : 20.0"));
  EXPECT_THAT(text, HasSubstr("50.0 MB / 100 / 2"));
  EXPECT_THAT(text, HasSubstr("daemon CPU"));
  EXPECT_THAT(text, HasSubstr("125 MB/s on all"));
}

TEST(TerminalReport, NamesRunsThatFailed) {
  Result result = MakeResult();
  result.scenarios[0].runs[1].error = "no\nway";
  EXPECT_THAT(TerminalReport(result), HasSubstr("FAILED lazy, run 1: no?way"));
}

TEST(Reports, ANoteStandsAboveTheFigures) {
  Result result = MakeResult();
  result.scenarios[0].note = "Reads <may> fail.";
  EXPECT_THAT(TerminalReport(result), HasSubstr("Reads <may> fail.\nlazy: ready after"));
  EXPECT_THAT(HtmlReport(result), HasSubstr("<p>Reads &lt;may&gt; fail.</p>"));
}

TEST(TerminalReport, AResultWithoutScenariosIsStillAReport) {
  EXPECT_THAT(TerminalReport(Result{}), HasSubstr("0 cores"));
  EXPECT_THAT(TerminalReport(Scenario{}), HasSubstr("no runs"));
}

TEST(HtmlReport, CarriesItsPlotsAndNeedsNothingElse) {
  const std::string html = HtmlReport(MakeResult());
  EXPECT_THAT(html, HasSubstr("<svg"));
  EXPECT_THAT(html, HasSubstr("timeline of each mode"));
  EXPECT_THAT(html, HasSubstr("bytes over time"));
  EXPECT_THAT(html, Not(HasSubstr("<script")));
  EXPECT_THAT(html, Not(HasSubstr("http")));
  EXPECT_THAT(html, Not(HasSubstr("src=")));
}

TEST(HtmlReport, AWideTableBreaksBetweenQuantitiesAndNotWithinThem) {
  Result result = MakeResult();
  for (bench::Run& run : result.scenarios[0].runs) run.counts["soci_spans_total{class=\"fill\"}"] = 7;
  const std::string html = HtmlReport(result);
  EXPECT_THAT(html, HasSubstr("<td>2.10&nbsp;s <span>(2.00-2.20)</span></td>"));
  EXPECT_THAT(html, HasSubstr("<td>50.0&nbsp;MB&nbsp;/ 100&nbsp;/ 2</td>"));
  EXPECT_THAT(html, HasSubstr("<td>1&nbsp;:&nbsp;20.0</td>"));
  EXPECT_THAT(html, HasSubstr("<td>soci_<wbr>spans_<wbr>total<wbr>{class=&quot;fill&quot;}</td>"));
}

TEST(Reports, OfSeveralModesOfOursEachHasARowOfRatios) {
  Result result = MakeResult();
  result.scenarios[0].runs.push_back(MakeRun("full", 1, 20, 700'000'000, 20));
  const std::string text = TerminalReport(result);
  EXPECT_THAT(text, HasSubstr("ready, lazy"));
  EXPECT_THAT(text, HasSubstr("ready, full"));
  EXPECT_THAT(TerminalReport(MakeResult()), HasSubstr("lazy : containerd"));
}

TEST(Reports, NameTheVersionsOfOthers) {
  Result result = MakeResult();
  result.environment.others = {{"stargz", "containerd-stargz-grpc <0.18>"}};
  EXPECT_THAT(TerminalReport(result), HasSubstr("stargz: containerd-stargz-grpc <0.18>\n"));
  EXPECT_THAT(HtmlReport(result), HasSubstr("stargz: containerd-stargz-grpc &lt;0.18&gt;"));
}

TEST(HtmlReport, EscapesWhateverTheResultSays) {
  Result result = MakeResult();
  const std::string evil = "</title><script>alert('x')</script>";
  result.environment.date = result.environment.cpu = result.environment.commit = evil;
  result.calibrations[0].link = evil;
  Scenario& scenario = result.scenarios[0];
  scenario.name = scenario.image = scenario.link = scenario.workload = evil;
  for (bench::Run& run : scenario.runs) {
    run.mode += evil;
    run.points[0].name = evil;
    run.counts[evil] = 1;
    run.read_milliseconds = {1, 2, 3};
  }
  scenario.runs[0].error = evil;
  EXPECT_THAT(HtmlReport(result), Not(HasSubstr("<script")));
}

TEST(HtmlReport, SenselessFiguresDoNotBreakIt) {
  Result result = MakeResult();
  const double inf = std::numeric_limits<double>::infinity();
  for (bench::Run& run : result.scenarios[0].runs) {
    run.points[0].seconds = -inf;
    run.points[1].seconds = 1e300;
    run.points.push_back({"negative", -5, {}});
    run.bytes_over_time = {{std::numeric_limits<double>::quiet_NaN(), 1}, {1e300, UINT64_MAX}};
    run.read_milliseconds = {-1, 0, 1e300, inf};
  }
  const std::string html = HtmlReport(result);
  EXPECT_THAT(html, HasSubstr("</html>"));
  EXPECT_THAT(html, Not(HasSubstr("nan")));
}

TEST(HtmlReport, ManySamplesAreThinned) {
  Result result = MakeResult();
  auto& samples = result.scenarios[0].runs[1].bytes_over_time;
  for (uint64_t i = 0; i < 200'000; ++i) samples.push_back({static_cast<double>(i), i});
  EXPECT_LT(HtmlReport(result).size(), 200'000u);
}

TEST(Sweep, ScenariosWithAPercentageShareAPlot) {
  ASSERT_TRUE(ParseSweepName("density 5%"));
  EXPECT_EQ(ParseSweepName("density 5%")->name, "density");
  EXPECT_EQ(ParseSweepName("density 2.5%")->percent, 2.5);
  EXPECT_FALSE(ParseSweepName("density"));
  EXPECT_FALSE(ParseSweepName("100%"));
  EXPECT_FALSE(ParseSweepName("density x%"));
  Result result;
  for (const char* name : {"density 1%", "density 50%"}) {
    result.scenarios.push_back(MakeScenario(name));
    for (bench::Run& run : result.scenarios.back().runs) run.points[1].name = "work finished";
  }
  EXPECT_THAT(HtmlReport(result), HasSubstr("% of the bytes read"));
}

TEST(Scale, LinearTicksAreRound) {
  EXPECT_THAT(Scale(Scale::Kind::kLinear, 0, 43, 0, 100).Ticks(5), ElementsAre(0, 10, 20, 30, 40));
}

TEST(Scale, LogarithmicTicksAreOneTwoFive) {
  EXPECT_THAT(Scale(Scale::Kind::kLogarithmic, 1, 20, 0, 100).Ticks(9), ElementsAre(1, 2, 5, 10, 20));
}

TEST(Scale, ASenselessRangeIsStillUsable) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const auto kind : {Scale::Kind::kLinear, Scale::Kind::kLogarithmic}) {
    for (const auto& [low, high] : {std::pair(0.0, 0.0), {nan, nan}, {5.0, -5.0}, {1e300, 1e308}, {-1.0, 1e-12}}) {
      const Scale scale(kind, low, high, 10, 20);
      EXPECT_GE(scale(3), 10);
      EXPECT_LE(scale(3), 20);
      EXPECT_LT(scale.Ticks(5).size(), 100u);
    }
  }
}

}  // namespace
}  // namespace soci::bench
