// What the fetcher makes of bodies that are torn, cut short, late or never come.
#include "tests/unit/fuse/fetch/span_fetcher_fixture.h"

namespace soci::test {
namespace {

TEST_F(SpanFetcherTest, ATornBodyIsFetchedAgain) {
  Start();
  Get(3);
  ASSERT_TRUE(source_.WaitForReads(1));
  source_.FinishTorn(0);
  ASSERT_TRUE(source_.WaitForReads(2));
  source_.FinishTorn(1);
  ASSERT_TRUE(source_.WaitForReads(3));
  source_.Finish(2);
  EXPECT_EQ(Text(3), Expected(3));
}

TEST_F(SpanFetcherTest, ABodyThatStaysTornIsDataLossAndNeverServed) {
  Start();
  Get(3);
  for (size_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(source_.WaitForReads(i + 1));
    source_.FinishTorn(i);
  }
  EXPECT_EQ(WaitFor(3).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(Message(WaitFor(3).status())), HasSubstr("reading span 3 of sha256:"));
  EXPECT_EQ(store_.present_count(), 0u);

  // The next reader has three tries of its own.
  answers_.clear();
  Get(3);
  ASSERT_TRUE(source_.WaitForReads(4));
  source_.Finish(3);
  EXPECT_EQ(Text(3), Expected(3));
}

TEST_F(SpanFetcherTest, TornFillIsFetchedAgain) {
  options_.fill_range = 10'000;
  Start();
  StartFill();
  ASSERT_TRUE(source_.WaitForReads(1));
  source_.AnswerByItself();
  source_.FinishTorn(0);
  WaitForComplete();
  for (uint32_t span = 0; span < kSpans; ++span) EXPECT_EQ(store_.Bytes(SpanId{span}), Expected(span));
}

TEST_F(SpanFetcherTest, ANetworkErrorIsTriedAgainWithinTheBudget) {
  Start();
  Get(3);
  ASSERT_TRUE(source_.WaitForReads(1));
  source_.Fail(0, absl::UnavailableError("connection reset"));
  Advance(milliseconds(100));
  ASSERT_TRUE(source_.WaitForReads(2));
  EXPECT_LE(source_.reads()[1].budget, milliseconds(59'900));
  source_.Deliver(1, 50);
  source_.Fail(1, absl::UnavailableError("connection reset"));
  Advance(milliseconds(200));
  ASSERT_TRUE(source_.WaitForReads(3));
  source_.Finish(2);
  EXPECT_EQ(Text(3), Expected(3));
}

TEST_F(SpanFetcherTest, TheSourceLeavesItToTheFetcherWhenToTryAgain) {
  options_.fill_range = 400;
  Start();
  Get(3);
  Get(8, FetchClass::kReadAhead);
  ASSERT_TRUE(source_.WaitForReads(2));
  source_.AnswerByItself();
  source_.Finish(0);
  source_.Finish(1);
  StartFill();
  WaitForComplete();
  for (const FakeByteSource::Seen& read : source_.reads()) EXPECT_TRUE(read.asker_retries);
}

TEST_F(SpanFetcherTest, AnErrorThatStaysIsAnsweredAtOnce) {
  Start();
  Get(3);
  ASSERT_TRUE(source_.WaitForReads(1));
  source_.Fail(0, absl::NotFoundError("no such blob"));
  EXPECT_EQ(WaitFor(3).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(SpanFetcherTest, WhenTheBudgetIsOverTheReaderGetsAnErrorAndTheNextOneTriesAgain) {
  Start();
  Get(3);
  ASSERT_TRUE(source_.WaitForReads(1));
  source_.Fail(0, absl::UnavailableError("connection refused"));
  // Its own time, whether or not another try was made in between.
  Advance(seconds(61));
  EXPECT_EQ(WaitFor(3).status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(std::string(Message(WaitFor(3).status())), HasSubstr("connection refused"));
  answers_.clear();
  size_t before = source_.reads().size();
  Get(3);
  ASSERT_TRUE(source_.WaitForReads(before + 1));
  source_.Finish(before);
  EXPECT_EQ(Text(3), Expected(3));
}

TEST_F(SpanFetcherTest, AReaderIsAnsweredInTimeAlthoughTheSourceHangs) {
  Start();
  Get(3);
  ASSERT_TRUE(source_.WaitForReads(1));
  Advance(seconds(60));
  EXPECT_EQ(WaitFor(3).status().code(), absl::StatusCode::kDeadlineExceeded);
  // Who comes now joins the read that still hangs, with a budget of its own.
  answers_.clear();
  Get(3);
  source_.Finish(0);
  EXPECT_EQ(Text(3), Expected(3));
}

TEST_F(SpanFetcherTest, AnEarlyEndIsTriedAgainFromTheSpansThatAreMissing) {
  scheduler_options_.connections = {.urgent = 1, .total = 1};
  Start();
  Get(0);
  ASSERT_TRUE(source_.WaitForReads(1));
  Get(4);
  Get(5);
  source_.Finish(0);
  ASSERT_TRUE(source_.WaitForReads(2));
  source_.Deliver(1, 120);
  source_.Fail(1, OkStatus());
  EXPECT_EQ(Text(4), Expected(4));
  Advance(milliseconds(100));
  ASSERT_TRUE(source_.WaitForReads(3));
  EXPECT_EQ(source_.reads()[2].offset, 500u);
  source_.Finish(2);
  EXPECT_EQ(Text(5), Expected(5));
}

TEST_F(SpanFetcherTest, FillGoesOnAfterTheRegistryHasComeBack) {
  options_.fill_range = 400;
  scheduler_options_.connections = {.urgent = 1, .total = 2};
  Start();
  StartFill();
  ASSERT_TRUE(source_.WaitForReads(2));
  source_.Deliver(0, 100);
  source_.Fail(0, absl::UnavailableError("connection reset"));
  source_.Fail(1, absl::UnavailableError("connection reset"));
  store_.WaitForPresent(1);
  EXPECT_EQ(source_.reads().size(), 2u);  // no try before its time
  source_.AnswerByItself();
  Advance(seconds(1));
  WaitForComplete();
  for (uint32_t span = 0; span < kSpans; ++span) EXPECT_EQ(store_.Bytes(SpanId{span}), Expected(span));
}

TEST_F(SpanFetcherTest, WhatHappensIsCounted) {
  options_.verify_attempts = 2;
  Start();
  FetchCounters& counters = scheduler_->counters();
  Get(3);
  ASSERT_TRUE(source_.WaitForReads(1));
  Get(3);
  EXPECT_EQ(counters.demand_misses, 1u);
  EXPECT_EQ(counters.demand_joins, 1u);
  source_.Deliver(0, 50);
  source_.Fail(0, absl::UnavailableError("cut"));
  while (counters.faults[static_cast<size_t>(FetchFault::kNetwork)] == 0) std::this_thread::yield();
  Advance(seconds(1));
  ASSERT_TRUE(source_.WaitForReads(2));
  source_.Finish(1);
  EXPECT_EQ(Text(3), Expected(3));
  EXPECT_EQ(counters.bytes[ToIndex(FetchClass::kDemand)], kSpanSize);
  EXPECT_EQ(counters.spans[ToIndex(FetchClass::kDemand)], 1u);
  EXPECT_EQ(counters.bytes[ToIndex(FetchClass::kFill)], 0u);
  EXPECT_EQ(counters.faults[static_cast<size_t>(FetchFault::kDigest)], 0u);
}

}  // namespace
}  // namespace soci::test
