// What a replay needs first goes first, in whatever layer it lies and whoever asked first.
#include "tests/unit/fuse/fetch/span_fetcher_fixture.h"

namespace soci::test {
namespace {

class ReplayOrder : public SpanFetcherTest {
 protected:
  // One connection, which a first replay has; whatever is asked for meanwhile waits in line.
  ReplayOrder() { scheduler_options_.connections = {.urgent = 1, .total = 1}; }
  ~ReplayOrder() override { other_fetcher_.reset(); }

  void StartBoth() {
    Start();
    other_fetcher_ = MakeLayerFetcher(*scheduler_, table_, other_source_, other_store_, options_);
    Replay(15, 0);
    ASSERT_TRUE(source_.WaitForReads(1));
  }
  void Replay(uint32_t span, int64_t due) { fetcher_->Replay({SpanId{span}}, due, ignored_); }
  void ReplayOther(uint32_t span, int64_t due) { other_fetcher_->Replay({SpanId{span}}, due, ignored_); }

  // Answers the only read there is, and waits for the next one of that layer, which begins there.
  void ThenComes(FakeByteSource& source, uint32_t span) {
    const size_t before = source.reads().size();
    now_->Finish(now_->reads().size() - 1);
    ASSERT_TRUE(source.WaitForReads(before + 1));
    EXPECT_EQ(source.reads().back().offset, span * kSpanSize);
    now_ = &source;
  }

  const LayerFetcher::Arrived ignored_ = [](SpanId, const Status&) {};
  FakeByteSource other_source_{tar_};
  FakeBackingStore other_store_{kSpans};
  std::unique_ptr<LayerFetcher> other_fetcher_;
  FakeByteSource* now_ = &source_;
};

TEST_F(ReplayOrder, TheFirstNeedsOfALayerThatCameLaterGoBeforeTheLaterOnesOfTheFirst) {
  StartBoth();
  Replay(3, 40);
  Replay(5, 20);
  Replay(7, 60);
  ReplayOther(9, 30);
  ReplayOther(1, 10);
  ReplayOther(11, 50);
  ThenComes(other_source_, 1);
  ThenComes(source_, 5);
  ThenComes(other_source_, 9);
  ThenComes(source_, 3);
  ThenComes(other_source_, 11);
  ThenComes(source_, 7);
  now_->Finish(now_->reads().size() - 1);
}

TEST_F(ReplayOrder, WhatFailedGoesBeforeWhatIsDueLater) {
  StartBoth();
  ReplayOther(9, 30);
  Replay(3, 20);
  source_.Fail(0, absl::UnavailableError("gone"));  // span 15, which is due first and waits a little now
  ASSERT_TRUE(source_.WaitForReads(2));
  EXPECT_EQ(source_.reads()[1].offset, 3 * kSpanSize);
  Advance(seconds(1));
  ReplayOther(1, 10);
  ThenComes(source_, 15);
  ThenComes(other_source_, 1);
  ThenComes(other_source_, 9);
  now_->Finish(now_->reads().size() - 1);
}

TEST_F(ReplayOrder, WhatAReaderWaitsForGoesBeforeEverythingThatIsDue) {
  StartBoth();
  Replay(3, 10);
  ReplayOther(9, 30);
  other_fetcher_->Get(SpanId{9}, FetchClass::kDemand, [](const Answer&) {});
  ASSERT_TRUE(other_source_.WaitForReads(1)) << "demand has a connection of its own";
  EXPECT_EQ(other_source_.reads()[0].offset, 9 * kSpanSize);
  EXPECT_EQ(source_.reads().size(), 1u);
  other_source_.Finish(0);
  ThenComes(source_, 3);
  now_->Finish(now_->reads().size() - 1);
}

}  // namespace
}  // namespace soci::test
