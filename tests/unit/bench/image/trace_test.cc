#include "bench/image/trace.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace soci::bench {
namespace {

using Kind = TraceStep::Kind;

TEST(ImportTrace, TouchesSixPercentOfTheBytesOfS) {
  const ImageRecipe recipe = *KnownRecipe("S");
  const std::vector<TraceStep> trace = MakeImportTrace(recipe, PlanLayers(recipe));
  uint64_t read = 0, touched = 0, think = 0, calls = 0;
  for (const TraceStep& step : trace) {
    if (step.kind == Kind::kRead) read += step.first, calls += 5;
    if (step.kind == Kind::kTouch) touched += step.second;
    if (step.kind == Kind::kThink) think += step.first;
    calls += step.kind == Kind::kStat || step.kind == Kind::kMissing ? 1 : step.kind == Kind::kList ? 4 : 0;
  }
  EXPECT_NEAR(static_cast<double>(read + touched) / static_cast<double>(recipe.bytes), 0.06, 0.01);
  EXPECT_GT(read, 10'000'000u);
  EXPECT_GT(calls, 15'000u);
  EXPECT_LT(calls, 40'000u);
  EXPECT_GT(think, 500'000u) << "microseconds";
  EXPECT_LT(think, 3'000'000u);
}

TEST(ImportTrace, AsksForWhatTheImageHasAndOnlyThat) {
  const ImageRecipe recipe = Scaled(*KnownRecipe("S"), 0.1);
  const std::vector<PlannedLayer> layers = PlanLayers(recipe);
  std::map<std::string, uint64_t> files;
  std::set<std::string> all;
  for (const TreeEntry& entry : MergedTree(layers)) {
    all.insert(entry.path);
    if (entry.type == TreeEntry::Type::kFile) files[entry.path] = entry.size;
  }
  uint64_t mapped = 0;
  for (const TraceStep& step : MakeImportTrace(recipe, layers)) {
    switch (step.kind) {
      case Kind::kMissing:
        EXPECT_FALSE(all.count(step.path)) << step.path;
        break;
      case Kind::kList:
        EXPECT_TRUE(all.count(step.path)) << step.path;
        break;
      case Kind::kTouch:
        EXPECT_LE(step.first + step.second, mapped);
        break;
      case Kind::kThink:
        break;
      case Kind::kMap:
        mapped = step.first;
        [[fallthrough]];
      case Kind::kStat:
      case Kind::kRead:
        ASSERT_TRUE(files.count(step.path)) << step.path;
        EXPECT_EQ(files[step.path], step.first) << step.path;
    }
  }
}

TEST(ImportTrace, IsTheSameAfterBeingWrittenAndRead) {
  const ImageRecipe recipe = Scaled(*KnownRecipe("S"), 0.02);
  const std::vector<TraceStep> trace = MakeImportTrace(recipe, PlanLayers(recipe));
  EXPECT_GT(trace.size(), 100u);
  EXPECT_EQ(TraceFromText(ToText(trace)), trace);
}

TEST(ImportTrace, NonsenseIsNoTrace) {
  for (const char* wrong : {"x 1 2 a\n", "r 1 2 a", "r 1\n", "r -1 2 a\n", "r 1 2\n", "r\n", "\n"}) {
    EXPECT_EQ(TraceFromText(wrong), std::nullopt) << wrong;
  }
}

}  // namespace
}  // namespace soci::bench
