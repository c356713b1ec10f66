#include "snapshotter/replay/replay_cursor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace soci {
namespace {

using Verdict = ReplayCursor::Verdict;

// Steps of one span each, needed in the order of their numbers.
std::vector<ReplayStep> Steps(uint32_t count, uint32_t layer = 0) {
  std::vector<ReplayStep> steps;
  for (uint32_t i = 0; i < count; ++i) steps.push_back({i, layer, SpanId{i}, 1});
  return steps;
}

uint32_t NextSpan(ReplayCursor& cursor) { return static_cast<uint32_t>(ToIndex(cursor.Next().value().step.first)); }

TEST(ReplayCursorTest, GoesInOrderOfNeedAndIsDoneWhenAllHasCome) {
  ReplayCursor cursor;
  cursor.Add(Steps(3));
  for (uint32_t i = 0; i < 3; ++i) EXPECT_EQ(NextSpan(cursor), i);
  EXPECT_FALSE(cursor.Next());
  EXPECT_EQ(cursor.Judge(), Verdict::kGoOn);
  cursor.Came(0, SpanId{0});
  cursor.Came(0, SpanId{1});
  cursor.IsLocal(0, SpanId{2});
  EXPECT_EQ(cursor.Judge(), Verdict::kDone);
  EXPECT_EQ(cursor.counts().came, 2u);
  EXPECT_EQ(cursor.counts().local, 1u);
}

TEST(ReplayCursorTest, GoesOnAfterTheProgramWhenItIsOvertaken) {
  ReplayCursor cursor;
  cursor.Add(Steps(10));
  EXPECT_EQ(NextSpan(cursor), 0u);
  cursor.Needed(0, SpanId{6}, /*missed=*/true);
  EXPECT_EQ(NextSpan(cursor), 7u);
  EXPECT_EQ(cursor.counts().misses, 1u);
}

TEST(ReplayCursorTest, WhatWasAskedForBeforeAJumpComesAfterWhatTheProgramNeedsNext) {
  ReplayCursor cursor;
  cursor.Add(Steps(10));
  for (int i = 0; i < 2; ++i) EXPECT_EQ(cursor.Next()->due, i);
  cursor.Needed(0, SpanId{7}, /*missed=*/true);
  EXPECT_EQ(NextSpan(cursor), 8u);
  EXPECT_EQ(NextSpan(cursor), 9u);
  std::vector<int64_t> due;
  cursor.Needed(0, SpanId{3}, /*missed=*/true);  // no jump: it was passed over
  for (const uint32_t span : {2, 3, 4, 5, 6, 7}) {
    const auto next = cursor.Next().value();
    EXPECT_EQ(next.step.first, SpanId{span});
    due.push_back(next.due);
  }
  EXPECT_TRUE(std::is_sorted(due.begin(), due.end()));
  EXPECT_LT(due.back(), 0) << "before the first two, if they still wait";
}

TEST(ReplayCursorTest, StopsOnceTheProgramIsPastTheEnd) {
  ReplayCursor cursor;
  cursor.Add(Steps(10));
  EXPECT_EQ(NextSpan(cursor), 0u);
  cursor.Needed(0, SpanId{9}, /*missed=*/true);
  EXPECT_EQ(cursor.Judge(), Verdict::kOvertaken);
}

TEST(ReplayCursorTest, ARecordOfSomethingElseIsFoundOut) {
  ReplayCursor cursor;
  cursor.Add(Steps(10));
  for (uint32_t i = 0; i < 23; ++i) cursor.Needed(0, SpanId{100 + i}, /*missed=*/true);
  EXPECT_EQ(cursor.Judge(), Verdict::kGoOn) << "too little is known";
  cursor.Needed(0, SpanId{200}, /*missed=*/true);
  EXPECT_EQ(cursor.Judge(), Verdict::kWrong);
}

TEST(ReplayCursorTest, WhatIsLocalAnywayDoesNotSpeakAgainstARecord) {
  ReplayCursor cursor;
  cursor.Add(Steps(10));
  for (uint32_t i = 0; i < 100; ++i) cursor.Needed(0, SpanId{100 + i}, /*missed=*/false);
  EXPECT_EQ(cursor.Judge(), Verdict::kGoOn);
}

TEST(ReplayCursorTest, TellsHitsFromWhatIsOnItsWay) {
  ReplayCursor cursor;
  cursor.Add(Steps(3));
  for (int i = 0; i < 3; ++i) cursor.Next();
  cursor.Came(0, SpanId{0});
  cursor.IsLocal(0, SpanId{1});
  for (uint32_t i = 0; i < 3; ++i) cursor.Needed(0, SpanId{i}, /*missed=*/i == 2);
  cursor.Needed(0, SpanId{0}, /*missed=*/false);  // only the first need counts
  EXPECT_EQ(cursor.counts().hits, 1u) << "what was local before is no hit";
  EXPECT_EQ(cursor.counts().late, 1u);
  EXPECT_EQ(cursor.counts().misses, 0u);
}

TEST(ReplayCursorTest, B15_APrefetchThatFailedIsTriedAgainButNotForEver) {
  ReplayCursor cursor;
  cursor.Add(Steps(2));
  EXPECT_EQ(NextSpan(cursor), 0u);
  int tries = 1;
  for (; tries < 100; ++tries) {
    cursor.Failed(0, SpanId{0});
    const auto next = cursor.Next();
    ASSERT_TRUE(next);
    if (next->step.first != SpanId{0}) break;
  }
  EXPECT_GT(tries, 1);
  EXPECT_LT(tries, 10);
  EXPECT_EQ(cursor.counts().given_up, 1u);
  cursor.Came(0, SpanId{1});
  EXPECT_EQ(cursor.Judge(), Verdict::kDone) << "the other span is not spoilt";
}

// A step that was taken when its layer left is never asked for, and so never answered.
TEST(ReplayCursorTest, NothingOfALayerThatHasGoneIsUnderWay) {
  ReplayCursor cursor;
  cursor.Add(Steps(2, 0));
  cursor.Add(Steps(1, 1));
  while (cursor.Next()) {
  }
  cursor.Came(1, SpanId{0});
  EXPECT_EQ(cursor.Judge(), Verdict::kGoOn);
  cursor.Drop(0);
  EXPECT_EQ(cursor.Judge(), Verdict::kDone);
}

TEST(ReplayCursorTest, ALayerThatHasGoneIsNotAskedForAndCallsForItAreHarmless) {
  ReplayCursor cursor;
  cursor.Add(Steps(2, /*layer=*/0));
  cursor.Add(Steps(1, /*layer=*/1));
  cursor.Drop(0);
  EXPECT_EQ(cursor.Next().value().step.layer, 1u);
  EXPECT_FALSE(cursor.Next());
  cursor.Failed(0, SpanId{0});
  cursor.Came(7, SpanId{3});
  EXPECT_FALSE(cursor.Next());
}

}  // namespace
}  // namespace soci
