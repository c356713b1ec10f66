#include "bench/report/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/bench/report/sample.h"

namespace soci::bench {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Compare, OverlappingSpreadsShowNoDifference) {
  const std::string text = CompareText(MakeResult(), MakeResult());
  EXPECT_THAT(text, HasSubstr("no difference shown"));
  EXPECT_THAT(text, Not(HasSubstr("times as")));
}

TEST(Compare, SpreadsThatDoNotOverlapShowTheRatioOfMedians) {
  Result faster = MakeResult();
  for (bench::Run& run : faster.scenarios[0].runs) {
    for (Point& point : run.points) point.seconds /= run.mode == "lazy" ? 4 : 1;
  }
  const std::string text = CompareText(MakeResult(), faster);
  EXPECT_THAT(text, HasSubstr("4.00 times as fast"));
  EXPECT_THAT(CompareText(faster, MakeResult()), HasSubstr("4.00 times as long"));
}

TEST(Compare, OtherWorkIsNotCompared) {
  Result other = MakeResult();
  other.scenarios[0].link = "B";
  EXPECT_THAT(CompareText(MakeResult(), other), HasSubstr("not compared: link A and B"));
  other = MakeResult();
  other.scenarios[0].image_bytes = 1;
  EXPECT_THAT(CompareText(MakeResult(), other), HasSubstr("not compared: an image of"));
}

TEST(Compare, WhatOnlyOneHasIsSaid) {
  Result more = MakeResult();
  more.scenarios.push_back(MakeScenario("second"));
  more.scenarios[0].runs.push_back(MakeRun("full", 1, 9, 1, 1));
  EXPECT_THAT(CompareText(more, MakeResult()), HasSubstr("second: only in A"));
  EXPECT_THAT(CompareText(more, MakeResult()), HasSubstr("full: only in A"));
  EXPECT_THAT(CompareText(MakeResult(), more), HasSubstr("second: only in B"));
  EXPECT_THAT(CompareText(MakeResult(), more), HasSubstr("full: only in B"));
}

TEST(Compare, OtherMachinesAreSaid) {
  Result other = MakeResult();
  other.environment.cores = 64;
  EXPECT_THAT(CompareText(MakeResult(), other), HasSubstr("The machines differ"));
}

TEST(CompareHtml, DrawsBothAndEscapesThem) {
  Result a = MakeResult(), b = MakeResult();
  b.environment.commit = "<script>";
  for (bench::Run& run : b.scenarios[0].runs) {
    for (Point& point : run.points) point.seconds *= run.mode == "lazy" ? 3 : 1;
  }
  b.scenarios.push_back(MakeScenario("<other>"));
  const std::string page = CompareHtml(a, b);
  EXPECT_THAT(page, HasSubstr("3.00 times as long"));
  EXPECT_THAT(page, HasSubstr(">lazy A<"));
  EXPECT_THAT(page, HasSubstr(">lazy B<"));
  EXPECT_THAT(page, HasSubstr("&lt;other&gt;"));
  EXPECT_THAT(page, Not(HasSubstr("<script")));
}

}  // namespace
}  // namespace soci::bench
