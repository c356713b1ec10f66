#include "snapshotter/replay/replay_plan.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "indexer/record/record_builder.h"
#include "tests/fakes/fake_layer_table.h"

namespace soci {
namespace {

constexpr uint64_t kSpan = 1 << 20;
constexpr uint64_t kFile = 4 * kSpan;

const oci::LayerDigest kLayer(oci::Digest::Of("layer"));

class ReplayPlanTest : public ::testing::Test {
 protected:
  ReplayPlanTest() {
    table_.SetSpans(12, kSpan);
    // Three files, one behind the other.
    for (uint64_t i = 0; i < 3; ++i) {
      auto& file = table_.File("f" + std::to_string(i), "");
      file.attributes.size = kFile;
      file.attributes.content = {i * kFile, (i + 1) * kFile};
    }
    table_.Number();
  }

  void Read(const std::string& path, uint64_t offset, uint64_t size, uint64_t at_us, uint64_t file_size = kFile) {
    builder_.Add(kLayer, path, file_size, offset, size, at_us);
  }
  ReplayPlan Plan() { return PlanReplay(builder_.Build(), 0, table_); }

  static std::vector<std::pair<uint32_t, uint32_t>> Ranges(const ReplayPlan& plan) {
    std::vector<std::pair<uint32_t, uint32_t>> ranges;
    for (const ReplayStep& step : plan.steps) ranges.emplace_back(ToIndex(step.first), step.count);
    return ranges;
  }
  using Expected = std::vector<std::pair<uint32_t, uint32_t>>;

  test::FakeLayerTable table_;
  RecordBuilder builder_{oci::Digest::Of("image"), {kLayer}};
};

TEST_F(ReplayPlanTest, TheOrderIsThatOfNeedNotOfOffset) {
  Read("f2", 0, 4096, 0);
  Read("f0", kSpan, 4096, 1'000'000);
  Read("f1", 0, 4096, 2'000'000);
  EXPECT_EQ(Ranges(Plan()), (Expected{{8, 1}, {1, 1}, {4, 1}}));
}

TEST_F(ReplayPlanTest, NeighboursThatAreNeededSoonGoTogetherUpToAStep) {
  Read("f0", 0, 4096, 0);
  Read("f0", kSpan, 4096, 100'000);
  Read("f0", 2 * kSpan, 4096, 200'000);
  Read("f0", 3 * kSpan, 4096, 900'000);  // too late to come that early
  const Record record = builder_.Build();
  EXPECT_EQ(Ranges(PlanReplay(record, 0, table_)), (Expected{{0, 3}, {3, 1}}));
  EXPECT_EQ(Ranges(PlanReplay(record, 0, table_, {.step_bytes = 2 * kSpan})), (Expected{{0, 2}, {2, 1}, {3, 1}}));
}

TEST_F(ReplayPlanTest, WhatLiesBeforeDoesNotDelayWhatIsNeededFirst) {
  Read("f0", kSpan, 4096, 0);
  Read("f0", 0, 4096, 1'000);
  EXPECT_EQ(Ranges(Plan()), (Expected{{1, 1}, {0, 1}}));
}

TEST_F(ReplayPlanTest, NoSpanIsInTwoSteps) {
  for (uint64_t i = 0; i < 200; ++i) Read("f" + std::to_string(i % 3), (i * 37 % 1000) * 4096, 8192, i * 50'000);
  std::vector<int> seen(12);
  for (const ReplayStep& step : Plan().steps) {
    for (uint32_t i = 0; i < step.count; ++i) ++seen.at(ToIndex(step.first) + i);
  }
  for (int times : seen) EXPECT_LE(times, 1);
}

TEST_F(ReplayPlanTest, FilesThatAreNotThereOrOfAnotherSizeAreLeftOut) {
  Read("nowhere/at/all", 0, 4096, 0);
  Read("f1", 0, 4096, 1, /*file_size=*/kFile + 1);
  Read("f2", 0, 4096, 2);
  const ReplayPlan plan = Plan();
  EXPECT_EQ(Ranges(plan), (Expected{{8, 1}}));
  EXPECT_EQ(plan.unknown_extents, 2u);
}

TEST_F(ReplayPlanTest, AFileOfManyNamesIsFetchedOnceWhenTheFirstOfThemIsNeeded) {
  constexpr int kNames = 20'000;
  test::FakeInode& file = table_.File("first", "");
  file.attributes.size = kFile;
  file.attributes.content = {kFile, 2 * kFile};
  for (int i = 0; i < kNames; ++i) table_.HardLink("n" + std::to_string(i), file);
  table_.Number();
  Read("f0", 0, 4096, 0);
  for (int i = kNames; i-- > 0;) Read("n" + std::to_string(i), 0, kFile, 1'000);
  const ReplayPlan plan = Plan();
  EXPECT_EQ(Ranges(plan), (Expected{{0, 1}, {4, 4}}));
  EXPECT_EQ(plan.steps.back().position, 1u);
}

TEST_F(ReplayPlanTest, ALayerWithoutASpanHasNoStep) {
  test::FakeLayerTable empty;
  empty.File("f0", "").attributes.size = kFile;
  empty.Number();
  Read("f0", 0, 4096, 0);
  EXPECT_TRUE(PlanReplay(builder_.Build(), 0, empty).steps.empty());
}

TEST_F(ReplayPlanTest, AnotherLayersExtentsAreNotThisOnes) {
  Read("f0", 0, 4096, 0);
  EXPECT_TRUE(PlanReplay(builder_.Build(), 5, table_).steps.empty());
}

}  // namespace
}  // namespace soci
