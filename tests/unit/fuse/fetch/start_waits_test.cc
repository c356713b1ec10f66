// Replay that began before its image could start must not make the start late.
#include "tests/unit/fuse/fetch/span_fetcher_fixture.h"

namespace soci::test {
namespace {

using StartWaitsTest = SpanFetcherTest;

TEST_F(StartWaitsTest, OneReplayGoesOnWhileAStartWaitsAndTheOthersWhenItHasWhatItNeeds) {
  Start();
  auto waits = scheduler_->StartWaits();
  auto another = scheduler_->StartWaits();
  fetcher_->Replay({SpanId{1}, SpanId{3}, SpanId{5}, SpanId{7}}, [](SpanId, const Status&) {});
  ASSERT_TRUE(source_.WaitForReads(1));
  Get(9);
  ASSERT_TRUE(source_.WaitForReads(2));
  EXPECT_EQ(source_.reads()[0].offset, kSpanSize);
  EXPECT_EQ(source_.reads()[1].fetch_class, FetchClass::kDemand);
  source_.Finish(1);
  EXPECT_EQ(Text(9), Expected(9));
  waits.reset();
  source_.Finish(0);
  ASSERT_TRUE(source_.WaitForReads(3)) << "one after the other";
  EXPECT_EQ(source_.reads().size(), 3u);
  another.reset();
  EXPECT_TRUE(source_.WaitForReads(4));
  for (size_t read : {2, 3}) source_.Finish(read);
}

TEST_F(StartWaitsTest, ReplaysThatRunStandStillButForOne) {
  Start();
  fetcher_->Replay({SpanId{1}, SpanId{3}, SpanId{5}}, [](SpanId, const Status&) {});
  ASSERT_TRUE(source_.WaitForReads(3));
  auto waits = scheduler_->StartWaits();
  const auto paused = [](const Reads& reads) {
    return std::count_if(reads.begin(), reads.end(), [](const auto& read) { return read.paused; });
  };
  ASSERT_TRUE(source_.WaitUntil([&](const Reads& reads) { return paused(reads) == 2; }));
  waits.reset();
  EXPECT_TRUE(source_.WaitUntil([&](const Reads& reads) { return paused(reads) == 0; }));
}

}  // namespace
}  // namespace soci::test
