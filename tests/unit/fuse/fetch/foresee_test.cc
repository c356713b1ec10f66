// Spans that are fetched because a program is likely to want them.
#include "tests/unit/fuse/fetch/span_fetcher_fixture.h"

namespace soci::test {
namespace {

TEST_F(SpanFetcherTest, ForeseenSpansAreFetchedAsReadAheadAndKept) {
  Start();
  fetcher_->Foresee({SpanId{4}, SpanId{5}, SpanId{6}});
  ASSERT_TRUE(source_.WaitForReads(1));
  EXPECT_EQ(source_.reads()[0].offset, 400u);
  EXPECT_EQ(source_.reads()[0].length, 300u);
  EXPECT_EQ(source_.reads()[0].fetch_class, FetchClass::kReadAhead);
  source_.Finish(0);
  store_.WaitForPresent(3);
  EXPECT_EQ(store_.Bytes(SpanId{5}), Expected(5));
}

TEST_F(SpanFetcherTest, WhatIsHereOrUnderWayIsNotForeseenAgain) {
  Start();
  ASSERT_TRUE(store_.WriteSpan(SpanId{4}, {}).ok());
  Get(5);
  ASSERT_TRUE(source_.WaitForReads(1));
  fetcher_->Foresee({SpanId{4}, SpanId{5}, SpanId{kSpans}});
  source_.Finish(0);
  EXPECT_EQ(Text(5), Expected(5));
  store_.WaitForPresent(2);
  EXPECT_EQ(source_.reads().size(), 1u);
}

TEST_F(SpanFetcherTest, WhoAsksForAForeseenSpanJoinsItsFlight) {
  Start();
  fetcher_->Foresee({SpanId{4}});
  ASSERT_TRUE(source_.WaitForReads(1));
  Get(4);
  source_.Finish(0);
  EXPECT_EQ(Text(4), Expected(4));
  EXPECT_EQ(source_.reads().size(), 1u);
}

TEST_F(SpanFetcherTest, ForeseenSpansWaitLongerThanAnyReaderWould) {
  scheduler_options_.connections = {.urgent = 1, .total = 1};
  Start();
  Get(0);
  ASSERT_TRUE(source_.WaitForReads(1));
  fetcher_->Foresee({SpanId{4}});
  Advance(options_.budget * 2);
  EXPECT_EQ(WaitFor(0).status().code(), absl::StatusCode::kDeadlineExceeded);
  source_.Finish(0);
  ASSERT_TRUE(source_.WaitForReads(2));
  source_.Finish(1);
  store_.WaitForPresent(2);
}

TEST_F(SpanFetcherTest, AForeseenSpanThatFailsIsForgotten) {
  Start();
  fetcher_->Foresee({SpanId{4}});
  ASSERT_TRUE(source_.WaitForReads(1));
  source_.Fail(0, absl::UnavailableError("reset"));
  Get(4);
  ASSERT_TRUE(source_.WaitForReads(2));
  source_.Finish(1);
  EXPECT_EQ(Text(4), Expected(4));
}

TEST_F(SpanFetcherTest, FillGoesOnFromWhereAProgramRead) {
  options_.fill_range = 200;
  scheduler_options_.connections = {.urgent = 1, .total = 1};
  Start();
  Get(9);
  ASSERT_TRUE(source_.WaitForReads(1));
  StartFill();
  source_.Finish(0);
  ASSERT_TRUE(source_.WaitForReads(2));
  EXPECT_EQ(source_.reads()[1].offset, 1000u);
  source_.AnswerByItself();
  source_.Finish(1);
  WaitForComplete();
}

}  // namespace
}  // namespace soci::test
