// A demanded span that takes much longer than requests to its host do.
#include "tests/unit/fuse/fetch/span_fetcher_fixture.h"

namespace soci::test {
namespace {

class HedgingTest : public SpanFetcherTest {
 protected:
  // Requests to the host take 30 ms to the first byte, and one in a hundred may be made twice now.
  void StartWithEstimate(int requests = 100) {
    Start();
    HostState& host = scheduler_->FindHost("registry");
    MutexLock lock(scheduler_->mutex());
    for (int i = 0; i < 100; ++i) host.link.Note({milliseconds(30), milliseconds(10), 100});
    for (int i = 0; i < requests; ++i) host.hedges.NoteRequest();
  }
  // Until nothing is left to decide at this time.
  void WaitForQuiet() {
    Get(15);
    ASSERT_TRUE(source_.WaitUntil([](const Reads& reads) {
      return std::any_of(reads.begin(), reads.end(), [](const auto& read) { return read.offset == 1500; });
    }));
    source_.Finish(source_.At(1500));
    EXPECT_TRUE(WaitFor(15).ok());
  }
  size_t ReadsOf(uint64_t offset) {
    const Reads reads = source_.reads();
    return static_cast<size_t>(
        std::count_if(reads.begin(), reads.end(), [&](const auto& read) { return read.offset == offset; }));
  }
};

TEST_F(HedgingTest, ASlowRequestIsMadeASecondTimeAndTheFirstAnswerWins) {
  StartWithEstimate();
  Get(3);
  ASSERT_TRUE(source_.WaitForReads(1));
  Advance(milliseconds(70));
  WaitForQuiet();
  EXPECT_EQ(ReadsOf(300), 1u);
  Advance(milliseconds(10));
  ASSERT_TRUE(source_.WaitForReads(3));
  EXPECT_EQ(ReadsOf(300), 2u);
  source_.Finish(2);
  EXPECT_EQ(Text(3), Expected(3));
  EXPECT_EQ(scheduler_->counters().hedges, 1u);
  source_.Finish(0);
  fetcher_.reset();
  EXPECT_EQ(scheduler_->counters().bytes_twice, kSpanSize);
}

TEST_F(HedgingTest, ASecondRequestThatFailsTakesNothingFromTheFirst) {
  StartWithEstimate();
  Get(3);
  ASSERT_TRUE(source_.WaitForReads(1));
  Advance(milliseconds(80));
  ASSERT_TRUE(source_.WaitForReads(2));
  source_.Fail(1, absl::NotFoundError("gone"));
  source_.Finish(0);
  EXPECT_EQ(Text(3), Expected(3));
}

TEST_F(HedgingTest, WhereTheServerAskedToWaitItIsNotAskedAgain) {
  StartWithEstimate();
  source_.TellToWait(true);
  Get(3);
  ASSERT_TRUE(source_.WaitForReads(1));
  Advance(seconds(5));
  WaitForQuiet();
  EXPECT_EQ(ReadsOf(300), 1u);
  source_.Finish(0);
  EXPECT_EQ(Text(3), Expected(3));
}

TEST_F(HedgingTest, OneInTwentyIsTheMost) {
  StartWithEstimate(10);
  Get(3);
  ASSERT_TRUE(source_.WaitForReads(1));
  Advance(seconds(5));
  WaitForQuiet();
  EXPECT_EQ(ReadsOf(300), 1u);
  source_.Finish(0);
  EXPECT_EQ(Text(3), Expected(3));
}

TEST_F(HedgingTest, FillIsNeverHedged) {
  options_.fill_range = 1000;
  StartWithEstimate();
  StartFill();
  ASSERT_TRUE(source_.WaitForReads(2));
  Advance(seconds(5));
  fetcher_->Foresee({SpanId{2}});
  Advance(seconds(5));
  source_.Finish(0);
  source_.Finish(1);
  WaitForComplete();
  EXPECT_EQ(source_.reads().size(), 2u);
}

}  // namespace
}  // namespace soci::test
