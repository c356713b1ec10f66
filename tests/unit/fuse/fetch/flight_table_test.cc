#include "fuse/fetch/flight_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fuse/fetch/fill_cursor.h"
#include "fuse/fetch/span_queue.h"
#include "tests/fakes/fake_backing_store.h"
#include "tests/fakes/fake_layer_table.h"

namespace soci::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using State = Flight::State;

constexpr FetchClass kDemand = FetchClass::kDemand;
constexpr FetchClass kReplay = FetchClass::kReplay;
constexpr FetchClass kFill = FetchClass::kFill;
constexpr SpanId kSpan(uint32_t number) { return SpanId{number}; }

// A plain tar of ten spans of ten bytes.
struct TenSpans {
  TenSpans() { table.SetTar(std::string(100, 'x'), 10); }
  FakeLayerTable table;
};

class FlightTableTest : public ::testing::Test, protected TenSpans {
 protected:
  void Queue(uint32_t span, FetchClass fetch_class) {
    flights_.Add(SpanId{span}, fetch_class, {.order = ++order_}, State::kQueued);
  }

  void QueueReplay(uint32_t span, int64_t due) { flights_.Add(SpanId{span}, kReplay, {due, ++order_}, State::kQueued); }

  uint64_t order_ = 0;
  FlightTable flights_{table};
};

TEST_F(FlightTableTest, TheOldestGoesFirstAndTakesItsNeighboursAlong) {
  for (uint32_t span : {7, 3, 4, 8, 5}) Queue(span, kDemand);
  EXPECT_THAT(flights_.TakeRange(kDemand, 1000), ElementsAre(kSpan(7), kSpan(8)));
  EXPECT_THAT(flights_.TakeRange(kDemand, 1000), ElementsAre(kSpan(3), kSpan(4), kSpan(5)));
  EXPECT_FALSE(flights_.HasQueued(kDemand));
  EXPECT_EQ(flights_.Find(SpanId{4})->state, State::kFetching);
}

TEST_F(FlightTableTest, ARangeKeepsItsLimitButHasOneSpanAtLeast) {
  for (uint32_t span : {1, 2, 3, 4}) Queue(span, kDemand);
  EXPECT_THAT(flights_.TakeRange(kDemand, 25), ElementsAre(kSpan(1), kSpan(2)));
  EXPECT_THAT(flights_.TakeRange(kDemand, 5), ElementsAre(kSpan(3)));
}

TEST_F(FlightTableTest, ARangeStopsAtAnotherClassAndAtWhatIsOnItsWay) {
  Queue(1, kDemand);
  Queue(2, kFill);
  Queue(4, kDemand);
  flights_.Add(SpanId{5}, kDemand, {.order = 99}, State::kFetching);
  EXPECT_THAT(flights_.TakeRange(kDemand, 1000), ElementsAre(kSpan(1)));
  EXPECT_THAT(flights_.TakeRange(kDemand, 1000), ElementsAre(kSpan(4)));
  EXPECT_TRUE(flights_.HasQueued(kFill));
}

TEST_F(FlightTableTest, AQueuedSpanThatSomeoneWaitsForChangesItsQueue) {
  Queue(1, kFill);
  flights_.Raise(SpanId{1}, kDemand);
  EXPECT_FALSE(flights_.HasQueued(kFill));
  EXPECT_TRUE(flights_.HasQueued(kDemand));
  flights_.Raise(SpanId{1}, kFill);
  EXPECT_TRUE(flights_.HasQueued(kDemand));
  flights_.Erase(SpanId{1});
  EXPECT_FALSE(flights_.HasQueued(kDemand));
}

TEST_F(FlightTableTest, OfAReplayWhatIsDueFirstGoesFirst) {
  QueueReplay(1, /*due=*/30);
  QueueReplay(3, /*due=*/10);
  QueueReplay(5, /*due=*/20);
  QueueReplay(7, /*due=*/20);
  EXPECT_EQ(flights_.FirstQueued(kReplay).due, 10u);
  for (const uint32_t span : {3, 5, 7, 1}) {
    EXPECT_THAT(flights_.TakeRange(kReplay, 1000), ElementsAre(SpanId{span}));
  }
}

TEST_F(FlightTableTest, ANeighbourThatIsDueLaterDoesNotGoAlong) {
  QueueReplay(3, 10);
  QueueReplay(4, 10);
  QueueReplay(5, 20);
  EXPECT_THAT(flights_.TakeRange(kReplay, 1000), ElementsAre(kSpan(3), kSpan(4)));
  EXPECT_THAT(flights_.TakeRange(kReplay, 1000), ElementsAre(kSpan(5)));
}

TEST_F(FlightTableTest, WhatIsTriedAgainKeepsItsPlace) {
  QueueReplay(3, 10);
  QueueReplay(5, 20);
  ASSERT_THAT(flights_.TakeRange(kReplay, 1000), ElementsAre(kSpan(3)));
  QueueReplay(7, 15);
  flights_.SetState(SpanId{3}, State::kBackingOff);
  flights_.SetState(SpanId{3}, State::kQueued);
  for (const uint32_t span : {3, 7, 5}) {
    EXPECT_THAT(flights_.TakeRange(kReplay, 1000), ElementsAre(SpanId{span}));
  }
}

TEST_F(FlightTableTest, WhatIsDueSoonerForAnotherReplayGoesSoonerAndForReadersItMakesNoDifference) {
  QueueReplay(3, 20);
  QueueReplay(5, 10);
  QueueReplay(7, 30);
  flights_.Raise(SpanId{7}, kReplay, 5);
  flights_.Raise(SpanId{7}, kReplay, 40);
  EXPECT_THAT(flights_.TakeRange(kReplay, 1000), ElementsAre(kSpan(7)));
  flights_.Raise(SpanId{3}, kDemand);
  flights_.Raise(SpanId{5}, kDemand);
  EXPECT_FALSE(flights_.HasQueued(kReplay));
  EXPECT_THAT(flights_.TakeRange(kDemand, 1000), ElementsAre(kSpan(3))) << "asked for first";
  Queue(1, kFill);
  flights_.Raise(SpanId{1}, kReplay, 50);
  EXPECT_EQ(flights_.FirstQueued(kReplay).due, 50u);
}

class FillCursorTest : public FlightTableTest {
 protected:
  void Write(uint32_t span) { ASSERT_TRUE(store_.WriteSpan(SpanId{span}, {}).ok()); }

  Clock::TimePoint now_{};
  FakeBackingStore store_{10};
  FillCursor cursor_{table, store_, flights_, 40};
};

TEST_F(FillCursorTest, TakesWhatIsMissingInOrderRoundAndRound) {
  Write(2);
  flights_.Add(SpanId{5}, kDemand, {.order = 1}, State::kFetching);
  EXPECT_THAT(cursor_.NextRange(now_, 1000), ElementsAre(kSpan(0), kSpan(1)));
  EXPECT_THAT(cursor_.NextRange(now_, 1000), ElementsAre(kSpan(3), kSpan(4)));
  EXPECT_THAT(cursor_.NextRange(now_, 25), ElementsAre(kSpan(6), kSpan(7)));
  EXPECT_THAT(cursor_.NextRange(now_, 1000), ElementsAre(kSpan(8), kSpan(9)));
  EXPECT_THAT(cursor_.NextRange(now_, 1000), ElementsAre(kSpan(0), kSpan(1)));
}

TEST_F(FillCursorTest, StaysNearTheProgramWhileItMissesSpansAndThenGoesBackToTheBeginning) {
  cursor_.MoveTo(SpanId{6}, now_);
  EXPECT_THAT(cursor_.NextRange(now_, 25), ElementsAre(kSpan(6), kSpan(7)));
  now_ += std::chrono::milliseconds(900);
  cursor_.MoveTo(SpanId{3}, now_);
  now_ += std::chrono::milliseconds(900);
  EXPECT_THAT(cursor_.NextRange(now_, 25), ElementsAre(kSpan(3), kSpan(4)));
  now_ += std::chrono::milliseconds(100);
  EXPECT_THAT(cursor_.NextRange(now_, 25), ElementsAre(kSpan(0), kSpan(1)));
  EXPECT_THAT(cursor_.NextRange(now_, 25), ElementsAre(kSpan(2), kSpan(3)));
}

TEST_F(FillCursorTest, StaysNearAMissForSoManyBytesAndGoesOnWhereTheDiffIdIsHashed) {
  Write(0);
  cursor_.MoveTo(SpanId{5}, now_);
  EXPECT_THAT(cursor_.NextRange(now_, 25), ElementsAre(kSpan(5), kSpan(6)));
  EXPECT_THAT(cursor_.NextRange(now_, 25), ElementsAre(kSpan(7), kSpan(8)));
  EXPECT_THAT(cursor_.NextRange(now_, 15), ElementsAre(kSpan(1)));
  cursor_.MoveTo(SpanId{9}, now_);
  EXPECT_THAT(cursor_.NextRange(now_, 25), ElementsAre(kSpan(9)));
}

TEST_F(FillCursorTest, LooksAgainOnlyWhenSomethingIsMissingAgain) {
  for (uint32_t span = 0; span < 10; ++span) flights_.Add(SpanId{span}, kFill, {.order = span}, State::kFetching);
  EXPECT_EQ(cursor_.Next(now_), std::nullopt);
  flights_.Erase(SpanId{4});
  EXPECT_EQ(cursor_.Next(now_), std::nullopt);
  cursor_.Reconsider();
  EXPECT_EQ(cursor_.Next(now_), SpanId{4});
}

TEST_F(FillCursorTest, ADelayedSpanIsLeftAloneUntilItsTime) {
  for (uint32_t span = 1; span < 10; ++span) Write(span);
  cursor_.Delay(SpanId{0}, now_ + std::chrono::minutes(1));
  EXPECT_EQ(cursor_.Next(now_), std::nullopt);
  EXPECT_EQ(cursor_.NextDue(), now_ + std::chrono::minutes(1));
  EXPECT_EQ(cursor_.Next(now_ + std::chrono::minutes(1)), SpanId{0});
}

TEST(SpanQueue, TheMostUrgentThenOldestIsTaken) {
  SpanQueue queue;
  queue.Push({nullptr, SpanId{1}, kFill, 10, 0});
  queue.Push({nullptr, SpanId{2}, kDemand, 10, 0});
  queue.Push({nullptr, SpanId{3}, kDemand, 10, 0});
  EXPECT_EQ(queue.compressed_bytes(), 30u);
  auto all = [](const SpanJob&) { return true; };
  EXPECT_EQ(queue.Take(all)->span, SpanId{2});
  EXPECT_EQ(queue.Take([](const SpanJob& job) { return job.fetch_class != kDemand; })->span, SpanId{1});
  EXPECT_EQ(queue.Take(all)->span, SpanId{3});
  EXPECT_FALSE(queue.Take(all).has_value());
  EXPECT_EQ(queue.compressed_bytes(), 0u);
}

TEST(SpanQueue, TheLeastUrgentThenNewestIsPushedOut) {
  SpanQueue queue;
  queue.Push({nullptr, SpanId{1}, kFill, 0, 0});
  queue.Push({nullptr, SpanId{2}, kFill, 0, 0});
  queue.Push({nullptr, SpanId{3}, kReplay, 0, 0});
  queue.Push({nullptr, SpanId{4}, kDemand, 0, 0});
  EXPECT_EQ(queue.TakeLeastUrgent()->span, SpanId{2});
  EXPECT_EQ(queue.TakeLeastUrgent()->span, SpanId{1});
  EXPECT_EQ(queue.TakeLeastUrgent()->span, SpanId{3});
  EXPECT_FALSE(queue.TakeLeastUrgent().has_value());
}

TEST(SpanQueue, ARaisedSpanGoesBeforeTheOthers) {
  SpanQueue queue;
  queue.Push({nullptr, SpanId{1}, kFill, 0, 0});
  queue.Push({nullptr, SpanId{2}, kFill, 0, 0});
  queue.Raise(nullptr, SpanId{2}, kDemand);
  EXPECT_EQ(queue.Take([](const SpanJob&) { return true; })->span, SpanId{2});
  EXPECT_EQ(queue.Remove(nullptr, [](const SpanJob&) { return true; }).size(), 1u);
  EXPECT_TRUE(queue.empty());
}

}  // namespace
}  // namespace soci::test
