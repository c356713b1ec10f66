// A span that someone waits for, in a range that would bring it late.
#include "tests/unit/fuse/fetch/span_fetcher_fixture.h"

namespace soci::test {
namespace {

class OvertakingTest : public SpanFetcherTest {
 protected:
  // Fill runs as one range over the whole layer.
  void StartWithFill(uint64_t round_trip_bytes) {
    scheduler_options_.connections = {.urgent = 4, .total = 1};
    scheduler_options_.round_trip_bytes = round_trip_bytes;
    options_.fill_range = kSpans * kSpanSize;
    Start();
    StartFill();
    ASSERT_TRUE(source_.WaitForReads(1));
  }
};

TEST_F(OvertakingTest, ADemandedSpanFarBehindInAFillRangeHasItsOwnRequestAndFillStandsStill) {
  StartWithFill(50);
  Get(9);
  ASSERT_TRUE(source_.WaitForReads(2));
  EXPECT_EQ(source_.reads()[1].offset, 900u);
  EXPECT_EQ(source_.reads()[1].length, 100u);
  EXPECT_EQ(source_.reads()[1].fetch_class, FetchClass::kDemand);
  ASSERT_TRUE(source_.WaitUntil([](const Reads& reads) { return reads[0].paused && !reads[1].paused; }));
  source_.Finish(1);
  EXPECT_EQ(Text(9), Expected(9));
  ASSERT_TRUE(source_.WaitUntil([](const Reads& reads) { return !reads[0].paused; }));
  source_.Finish(0);
  WaitForComplete();
  EXPECT_EQ(source_.reads().size(), 2u);
  EXPECT_EQ(scheduler_->counters().overtaken, 1u);
  EXPECT_EQ(scheduler_->counters().bytes_twice, kSpanSize);
}

TEST_F(OvertakingTest, ASpanThatIsNearIsWaitedFor) {
  StartWithFill(350);
  source_.Deliver(0, 550);
  store_.WaitForPresent(5);
  Get(9);  // 350 bytes away
  EXPECT_FALSE(source_.reads()[0].paused);
  source_.Deliver(0, 450);
  EXPECT_EQ(Text(9), Expected(9));
  EXPECT_EQ(source_.reads().size(), 1u);
  EXPECT_EQ(scheduler_->counters().overtaken, 0u);
}

TEST_F(OvertakingTest, AFewReplayedSpansAreNotAskedForAgainByTheReadThatNeedsThem) {
  Start();
  const auto arrived = [](SpanId, const Status&) {};
  fetcher_->Replay({SpanId{3}, SpanId{4}, SpanId{5}}, 0, arrived);
  ASSERT_TRUE(source_.WaitForReads(1));
  for (const uint32_t span : {3, 4, 5}) Get(span);  // before the first byte
  source_.Finish(0);
  EXPECT_EQ(Text(5), Expected(5));
  EXPECT_EQ(source_.reads().size(), 1u);
  EXPECT_EQ(scheduler_->counters().overtaken, 0u);
}

TEST_F(OvertakingTest, WhatComesFirstIsTheAnswerAndTheOtherRequestEnds) {
  StartWithFill(50);
  Get(9);
  ASSERT_TRUE(source_.WaitForReads(2));
  source_.Deliver(0, 1000);
  EXPECT_EQ(Text(9), Expected(9));
  ASSERT_TRUE(source_.WaitUntil([](const Reads& reads) { return reads[1].ended; }));
  EXPECT_TRUE(source_.reads()[1].cancelled);
  source_.Finish(0);
  WaitForComplete();
  EXPECT_EQ(scheduler_->counters().bytes_twice, 0u);
}

TEST_F(OvertakingTest, ARangeOfWhichNothingIsWantedAnyMoreIsCancelled) {
  StartWithFill(50);
  Get(15);
  ASSERT_TRUE(source_.WaitForReads(2));
  source_.Deliver(1, 20);
  source_.Deliver(0, 1500);  // the last span is left, and comes on another connection
  ASSERT_TRUE(source_.WaitUntil([](const Reads& reads) { return reads[0].ended; }));
  EXPECT_TRUE(source_.reads()[0].cancelled);
  source_.Finish(1);
  EXPECT_EQ(Text(15), Expected(15));
  WaitForComplete();
}

TEST_F(OvertakingTest, ARangeThatFailsTakesNothingFromWhoHasARequestOfHisOwn) {
  StartWithFill(50);
  Get(9);
  ASSERT_TRUE(source_.WaitForReads(2));
  source_.Fail(0, absl::NotFoundError("no such blob"));
  source_.Finish(1);
  EXPECT_EQ(Text(9), Expected(9));
}

TEST_F(OvertakingTest, ManyReadersOfAnOvertakenSpanShareOneRequest) {
  StartWithFill(50);
  for (int i = 0; i < 8; ++i) Get(9);
  ASSERT_TRUE(source_.WaitForReads(2));
  Get(9);
  source_.Finish(1);
  WaitForAnswers(9);
  EXPECT_EQ(source_.reads().size(), 2u);
  EXPECT_EQ(scheduler_->counters().overtaken, 1u);
}

TEST_F(OvertakingTest, StoppedFillDoesNotEndTheRequestOfAReader) {
  StartWithFill(50);
  Get(9);
  ASSERT_TRUE(source_.WaitForReads(2));
  fetcher_->StopFill();
  ASSERT_TRUE(source_.WaitUntil([](const Reads& reads) { return reads[0].ended; }));
  EXPECT_TRUE(source_.reads()[0].cancelled);
  source_.Finish(1);
  EXPECT_EQ(Text(9), Expected(9));
}

}  // namespace
}  // namespace soci::test
