#include "tests/unit/fuse/fetch/span_fetcher_fixture.h"

namespace soci::test {
namespace {

TEST_F(SpanFetcherTest, ASpanIsFetchedAnsweredFromMemoryThenWritten) {
  Start();
  store_.HoldWrites(true);
  Get(3);
  ASSERT_TRUE(source_.WaitForReads(1));
  EXPECT_EQ(source_.reads()[0].offset, 300u);
  EXPECT_EQ(source_.reads()[0].length, 100u);
  EXPECT_EQ(source_.reads()[0].fetch_class, FetchClass::kDemand);
  EXPECT_EQ(source_.reads()[0].budget, seconds(60));
  source_.Finish(0);
  EXPECT_EQ(Text(3), Expected(3));
  EXPECT_EQ((*WaitFor(3))->range, (UncompressedRange{300, 400}));
  store_.WaitForWriting(1);
  EXPECT_FALSE(store_.IsPresent(SpanId{3}));
  store_.HoldWrites(false);
  store_.WaitForPresent(1);
  EXPECT_EQ(store_.Bytes(SpanId{3}), Expected(3));
}

// B17
TEST_F(SpanFetcherTest, B17_SixtyFourReadersOfOneSpanCauseOneFetch) {
  Start();
  std::vector<std::thread> readers;
  for (int i = 0; i < 64; ++i) readers.emplace_back([this] { Get(5); });
  for (std::thread& reader : readers) reader.join();
  ASSERT_TRUE(source_.WaitForReads(1));
  source_.Finish(0);
  WaitForAnswers(64);
  for (const auto& [span, answer] : answers_) {
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_EQ(AsText((*answer)->view()), Expected(5));
  }
  store_.WaitForPresent(1);
  EXPECT_EQ(source_.reads().size(), 1u);
}

TEST_F(SpanFetcherTest, ASpanThatWaitsForTheDiskIsServedFromMemory) {
  Start();
  store_.HoldWrites(true);
  Get(3);
  ASSERT_TRUE(source_.WaitForReads(1));
  source_.Finish(0);
  EXPECT_TRUE(WaitFor(3).ok());
  store_.WaitForWriting(1);
  std::string got;
  fetcher_->Get(SpanId{3}, FetchClass::kDemand, [&](Answer answer) { got = AsText((*answer)->view()); });
  EXPECT_EQ(got, Expected(3));
  EXPECT_EQ(source_.reads().size(), 1u);
}

TEST_F(SpanFetcherTest, ASpanInTheStoreIsNotFetched) {
  Start();
  ASSERT_TRUE(store_.WriteSpan(SpanId{3}, {}).ok());
  Get(3);
  EXPECT_EQ(WaitFor(3).status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_TRUE(source_.reads().empty());
}

TEST_F(SpanFetcherTest, ASpanThatDoesNotExistIsRefused) {
  Start();
  Get(kSpans);
  EXPECT_EQ(WaitFor(kSpans).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(SpanFetcherTest, ASpanLargerThanAllowedIsRefused) {
  options_.largest_span = 99;
  Start();
  Get(0);
  EXPECT_EQ(WaitFor(0).status().code(), absl::StatusCode::kInvalidArgument);
  StartFill();
  EXPECT_EQ(fetcher_->fill_state(), LayerFetcher::FillState::kStopped);
}

TEST_F(SpanFetcherTest, AdjacentWantedSpansGoOutAsOneRange) {
  scheduler_options_.connections = {.urgent = 1, .total = 2};
  Start();
  Get(0);
  ASSERT_TRUE(source_.WaitForReads(1));
  for (uint32_t span : {7, 8, 9, 11}) Get(span);
  source_.Finish(0);
  ASSERT_TRUE(source_.WaitForReads(2));
  EXPECT_EQ(source_.reads()[1].offset, 700u);
  EXPECT_EQ(source_.reads()[1].length, 300u);
  source_.Deliver(1, 150);
  EXPECT_EQ(Text(7), Expected(7));  // before its neighbours have come
  source_.Finish(1);
  EXPECT_EQ(Text(8), Expected(8));
  EXPECT_EQ(Text(9), Expected(9));
  ASSERT_TRUE(source_.WaitForReads(3));
  EXPECT_EQ(source_.reads()[2].offset, 1100u);
  source_.Finish(2);
  EXPECT_EQ(Text(11), Expected(11));
}

TEST_F(SpanFetcherTest, FillFetchesEverythingInMergedRanges) {
  options_.fill_range = 400;
  Start();
  source_.AnswerByItself();
  StartFill();
  WaitForComplete();
  EXPECT_EQ(fetcher_->fill_state(), LayerFetcher::FillState::kComplete);
  EXPECT_EQ(store_.present_count(), kSpans);
  for (uint32_t span = 0; span < kSpans; ++span) EXPECT_EQ(store_.Bytes(SpanId{span}), Expected(span));
  EXPECT_EQ(source_.reads().size(), 4u);
  for (const FakeByteSource::Seen& read : source_.reads()) {
    EXPECT_EQ(read.length, 400u);
    EXPECT_EQ(read.fetch_class, FetchClass::kFill);
  }
}

TEST_F(SpanFetcherTest, FillOfACompleteLayerSaysSo) {
  Start();
  for (uint32_t span = 0; span < kSpans; ++span) ASSERT_TRUE(store_.WriteSpan(SpanId{span}, {}).ok());
  StartFill();
  WaitForComplete();
  EXPECT_TRUE(source_.reads().empty());
}

TEST_F(SpanFetcherTest, FillStandsStillWhileDemandWaitsAndGoesOnAfterwards) {
  options_.fill_range = 400;
  scheduler_options_.connections = {.urgent = 1, .total = 2};
  Start();
  StartFill();
  ASSERT_TRUE(source_.WaitForReads(2));
  Get(15);
  // A connection of its own, although fill has all there are.
  ASSERT_TRUE(source_.WaitForReads(3));
  EXPECT_EQ(source_.reads()[2].offset, 1500u);
  ASSERT_TRUE(source_.WaitUntil([](const Reads& reads) { return reads[0].paused && reads[1].paused; }));
  EXPECT_FALSE(source_.reads()[2].paused);
  source_.Finish(2);
  EXPECT_EQ(Text(15), Expected(15));
  ASSERT_TRUE(source_.WaitUntil([](const Reads& reads) { return !reads[0].paused && !reads[1].paused; }));
}

TEST_F(SpanFetcherTest, NoFillStartsWhileDemandWaits) {
  Start();
  Get(0);
  ASSERT_TRUE(source_.WaitForReads(1));
  StartFill();
  Get(9);
  // Whoever decided on this read had seen the fill too.
  ASSERT_TRUE(source_.WaitForReads(2));
  EXPECT_EQ(source_.reads()[1].fetch_class, FetchClass::kDemand);
  source_.Finish(0);
  source_.Finish(1);
  ASSERT_TRUE(source_.WaitForReads(3));
  EXPECT_EQ(source_.reads()[2].fetch_class, FetchClass::kFill);
}

TEST_F(SpanFetcherTest, DemandOfOneLayerPausesTheFillOfAnother) {
  Start();
  StartFill();
  ASSERT_TRUE(source_.WaitForReads(1));
  FakeByteSource other_source(tar_);
  FakeBackingStore other_store(kSpans);
  options_.host = "another";
  auto other = MakeLayerFetcher(*scheduler_, table_, other_source, other_store, options_);
  other->Get(SpanId{2}, FetchClass::kDemand, [](Answer) {});
  ASSERT_TRUE(other_source.WaitForReads(1));
  ASSERT_TRUE(source_.WaitUntil([](const Reads& reads) { return reads[0].paused; }));
  other.reset();
  ASSERT_TRUE(source_.WaitUntil([](const Reads& reads) { return !reads[0].paused; }));
}

TEST_F(SpanFetcherTest, ADemandedSpanLiftsTheFillTransferThatBringsIt) {
  options_.fill_range = 400;
  scheduler_options_.connections = {.urgent = 1, .total = 2};
  Start();
  StartFill();
  ASSERT_TRUE(source_.WaitForReads(2));
  size_t first = source_.At(0), second = source_.At(400);
  Get(5);
  ASSERT_TRUE(source_.WaitUntil([&](const Reads& reads) { return reads[first].paused && !reads[second].paused; }));
  EXPECT_EQ(source_.reads().size(), 2u);
  source_.Deliver(second, 200);
  EXPECT_EQ(Text(5), Expected(5));
  ASSERT_TRUE(source_.WaitUntil([&](const Reads& reads) { return !reads[first].paused; }));
}

TEST_F(SpanFetcherTest, AQueuedSpanBecomesUrgentWhenSomeoneWaitsForIt) {
  scheduler_options_.connections = {.urgent = 1, .total = 1};
  Start();
  Get(0, FetchClass::kReplay);
  ASSERT_TRUE(source_.WaitForReads(1));
  Get(4, FetchClass::kReplay);
  Get(8, FetchClass::kReplay);
  Get(8, FetchClass::kDemand);
  ASSERT_TRUE(source_.WaitForReads(2));
  EXPECT_EQ(source_.reads()[1].offset, 800u);
  EXPECT_EQ(source_.reads()[1].fetch_class, FetchClass::kDemand);
  source_.Finish(1);
  source_.Finish(0);
  ASSERT_TRUE(source_.WaitForReads(3));
  EXPECT_EQ(source_.reads()[2].offset, 400u);
  source_.Finish(2);
  WaitForAnswers(4);
}

TEST_F(SpanFetcherTest, StopFillCancelsWhatNobodyWaitsFor) {
  options_.fill_range = 400;
  scheduler_options_.connections = {.urgent = 1, .total = 2};
  Start();
  StartFill();
  ASSERT_TRUE(source_.WaitForReads(2));
  size_t first = source_.At(0), second = source_.At(400);
  Get(5);
  fetcher_->StopFill();
  EXPECT_EQ(fetcher_->fill_state(), LayerFetcher::FillState::kStopped);
  ASSERT_TRUE(source_.WaitUntil([&](const Reads& reads) { return reads[first].ended; }));
  EXPECT_TRUE(source_.reads()[first].cancelled);
  EXPECT_FALSE(source_.reads()[second].cancelled);
  source_.Finish(second);
  EXPECT_EQ(Text(5), Expected(5));
  EXPECT_EQ(source_.reads().size(), 2u);
}

TEST_F(SpanFetcherTest, StoppedFillCanStartAgain) {
  Start();
  StartFill();
  ASSERT_TRUE(source_.WaitForReads(1));
  fetcher_->StopFill();
  ASSERT_TRUE(source_.WaitUntil([](const Reads& reads) { return reads[0].ended; }));
  source_.AnswerByItself();
  StartFill();
  WaitForComplete();
  EXPECT_EQ(store_.present_count(), kSpans);
}

TEST_F(SpanFetcherTest, TheDestructorCancelsAndAnswersEveryone) {
  Start();
  StartFill();
  ASSERT_TRUE(source_.WaitForReads(1));
  Get(3);
  Get(3);
  fetcher_.reset();
  EXPECT_EQ(answers_.size(), 2u);
  for (const auto& [span, answer] : answers_) EXPECT_EQ(answer.status().code(), absl::StatusCode::kCancelled);
  EXPECT_TRUE(source_.reads()[0].ended);
  EXPECT_EQ(scheduler_->decoded_bytes(), 0u);
}

TEST_F(SpanFetcherTest, TheDestructorDropsWhatWaitsForTheDisk) {
  scheduler_options_.writers = 1;
  Start();
  store_.HoldWrites(true);
  source_.AnswerByItself();
  for (uint32_t span : {1, 3, 5, 7}) Get(span);
  WaitForAnswers(4);
  store_.WaitForWriting(1);
  std::thread closing([this] { fetcher_.reset(); });
  store_.HoldWrites(false);
  closing.join();
  EXPECT_EQ(scheduler_->decoded_bytes(), 0u);
}

TEST_F(SpanFetcherTest, DecodedBytesThatWaitForTheDiskAreBounded) {
  scheduler_options_.decoded_limit = 4 * kSpanSize;
  options_.fill_range = 300;
  Start();
  std::atomic<bool> within{true};
  store_.on_check = [&] {
    if (scheduler_->decoded_bytes() > 4 * kSpanSize) within = false;
  };
  store_.HoldWrites(true);
  source_.AnswerByItself();
  StartFill();
  store_.WaitForWriting(2);
  store_.HoldWrites(false);
  WaitForComplete();
  EXPECT_TRUE(within);
  fetcher_.reset();  // the last writer gives its bytes back after it has said that all is there
  EXPECT_EQ(scheduler_->decoded_bytes(), 0u);
}

TEST_F(SpanFetcherTest, WhatIsFetchedAndCannotBeDecodedHoldsFillBack) {
  scheduler_options_.decoded_limit = 2 * kSpanSize;
  scheduler_options_.fetched_limit = 2 * kSpanSize;
  scheduler_options_.writers = 1;
  scheduler_options_.connections = {.urgent = 1, .total = 1};
  options_.fill_range = kSpans * kSpanSize;
  Start();
  store_.HoldWrites(true);
  StartFill();
  ASSERT_TRUE(source_.WaitForReads(1));
  source_.Deliver(0, 5 * kSpanSize);  // two decoded, three that cannot be
  ASSERT_TRUE(source_.WaitUntil([](const Reads& reads) { return reads[0].paused; }));
  store_.HoldWrites(false);
  ASSERT_TRUE(source_.WaitUntil([](const Reads& reads) { return !reads[0].paused; }));
  source_.Finish(0);
  WaitForComplete();
}

TEST_F(SpanFetcherTest, DemandPushesQueuedFillBytesOutAndTheyAreFetchedAgain) {
  scheduler_options_.decoded_limit = 4 * kSpanSize;
  scheduler_options_.writers = 1;
  scheduler_options_.connections = {.urgent = 4, .total = 5};
  options_.fill_range = 4 * kSpanSize;
  Start();
  store_.HoldWrites(true);
  StartFill();
  ASSERT_TRUE(source_.WaitForReads(4));
  source_.Finish(source_.At(0));
  store_.WaitForWriting(1);
  source_.AnswerByItself();
  Get(8);  // joins a fill transfer
  source_.Finish(source_.At(800));
  EXPECT_EQ(Text(8), Expected(8));  // the disk stands still
  EXPECT_LE(scheduler_->decoded_bytes(), 5 * kSpanSize);
  source_.Finish(source_.At(400));
  source_.Finish(source_.At(1200));
  store_.HoldWrites(false);
  WaitForComplete();
  for (uint32_t span = 0; span < kSpans; ++span) EXPECT_EQ(store_.Bytes(SpanId{span}), Expected(span));
}

TEST_F(SpanFetcherTest, DemandIsAnsweredUncachedWhenTheDiskCannotKeepUp) {
  scheduler_options_.decoded_limit = kSpanSize;
  scheduler_options_.writers = 1;
  Start();
  store_.HoldWrites(true);
  source_.AnswerByItself();
  for (uint32_t span = 0; span < kSpans; ++span) Get(span);
  for (uint32_t span = 0; span < kSpans; ++span) EXPECT_EQ(Text(span), Expected(span));
  store_.HoldWrites(false);
}

TEST_F(SpanFetcherTest, ADiskThatIsFullServesReadsAndFillsLater) {
  Start();
  store_.SetDisk(absl::ResourceExhaustedError("no space left on device"));
  source_.AnswerByItself();
  Get(3);
  EXPECT_EQ(Text(3), Expected(3));
  StartFill();
  Get(9);
  EXPECT_EQ(Text(9), Expected(9));
  EXPECT_EQ(fetcher_->fill_state(), LayerFetcher::FillState::kRunning);
  store_.SetDisk(OkStatus());
  // Each look may find fill in its pause or about to begin one; all pauses end.
  std::atomic<bool> done{false};
  std::thread time([&] {
    while (!done) Advance(seconds(60));
  });
  WaitForComplete();
  done = true;
  time.join();
  EXPECT_EQ(store_.present_count(), kSpans);
}

TEST_F(SpanFetcherTest, AFalseTableCondemnsTheLayer) {
  options_.fill_range = kSpanSize;
  Start();
  store_.MakeFalse(SpanId{3});
  Get(3);
  ASSERT_TRUE(source_.WaitForReads(1));
  source_.Finish(0);
  EXPECT_EQ(WaitFor(3).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(source_.reads().size(), 1u);  // the bytes were right; others will not help
  Get(4);
  EXPECT_EQ(WaitFor(4).status().code(), absl::StatusCode::kDataLoss);
  StartFill();
  EXPECT_EQ(fetcher_->fill_state(), LayerFetcher::FillState::kStopped);
}

TEST_F(SpanFetcherTest, ManyReadersFillAndStopsTogetherEndWell) {
  options_.fill_range = 300;
  scheduler_options_.decoded_limit = 6 * kSpanSize;
  Start();
  source_.AnswerByItself();
  StartFill();
  std::vector<std::thread> readers;
  for (uint32_t reader = 0; reader < 6; ++reader) {
    readers.emplace_back([this, reader] {
      for (uint32_t i = 0; i < 40; ++i) {
        Get((i * (reader + 3) + reader) % kSpans, static_cast<FetchClass>((i + reader) % 3));
        if (reader == 0 && i % 10 == 9) fetcher_->StopFill();
        if (reader == 1 && i % 10 == 9) StartFill();
      }
    });
  }
  for (std::thread& reader : readers) reader.join();
  WaitForAnswers(240);
  for (const auto& [span, answer] : answers_) {
    if (answer.ok()) {
      EXPECT_EQ(AsText((*answer)->view()), Expected(span));
    } else {
      EXPECT_EQ(answer.status().code(), absl::StatusCode::kAlreadyExists);
    }
  }
  StartFill();
  WaitForComplete();
}

}  // namespace
}  // namespace soci::test
