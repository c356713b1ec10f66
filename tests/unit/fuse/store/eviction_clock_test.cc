#include "fuse/store/eviction_clock.h"

#include <gtest/gtest.h>

#include <deque>
#include <random>
#include <set>

namespace soci {
namespace {

constexpr uint64_t kSpan = 4096;

SpanShelf Shelf(uint32_t spans) { return SpanShelf(std::vector<uint64_t>(spans, kSpan)); }

TEST(EvictionClock, WithNothingHeldNothingGoes) {
  EvictionClock clock;
  EXPECT_FALSE(clock.Next({}));
  SpanShelf shelf = Shelf(3);
  EXPECT_FALSE(clock.Next({&shelf}));
}

TEST(EvictionClock, WhatWasReadSinceTheHandCameByStaysAndTheOtherGoes) {
  SpanShelf shelf = Shelf(3);
  for (uint32_t i = 0; i < 3; ++i) shelf.Put(SpanId{i}, true);
  EvictionClock clock;
  const auto first = clock.Next({&shelf});  // all are without lives now
  ASSERT_TRUE(first);
  EXPECT_EQ(first->span, SpanId{0});
  shelf.Remove(first->span);
  shelf.Touch(SpanId{1});
  EXPECT_EQ(clock.Next({&shelf})->span, SpanId{2});
}

TEST(EvictionClock, WhatWasFetchedAheadOutlivesWhatWasRead) {
  SpanShelf shelf = Shelf(8);
  for (uint32_t i = 0; i < 8; ++i) shelf.Put(SpanId{i}, i % 2 == 0);
  EXPECT_EQ(shelf.unread_bytes(), 4 * kSpan);
  EvictionClock clock;
  for (int i = 0; i < 4; ++i) {
    const auto victim = clock.Next({&shelf});
    ASSERT_TRUE(victim);
    EXPECT_EQ(ToIndex(victim->span) % 2, 0u);
    shelf.Remove(victim->span);
  }
  EXPECT_EQ(shelf.unread_bytes(), 4 * kSpan);
  // But not for ever: a wrong guess goes too, and does not count any more.
  const auto guess = clock.Next({&shelf});
  ASSERT_TRUE(guess);
  EXPECT_EQ(shelf.unread_bytes(), 3 * kSpan);
}

TEST(EvictionClock, WhatIsReadIsNoGuessAnyMore) {
  SpanShelf shelf = Shelf(1);
  shelf.Put(SpanId{0}, false);
  shelf.Touch(SpanId{0});
  shelf.Touch(SpanId{0});
  EXPECT_EQ(shelf.unread_bytes(), 0u);
}

TEST(EvictionClock, ASpanIsChosenOnceUntilItHasGoneOrWasSpared) {
  SpanShelf shelf = Shelf(2);
  shelf.Put(SpanId{0}, true);
  EvictionClock clock;
  ASSERT_TRUE(clock.Next({&shelf}));
  EXPECT_TRUE(shelf.IsGoing(SpanId{0}));
  EXPECT_FALSE(clock.Next({&shelf}));
  shelf.Touch(SpanId{0});  // too late
  EXPECT_TRUE(shelf.IsGoing(SpanId{0}));
  shelf.Spare(SpanId{0});
  EXPECT_TRUE(clock.Next({&shelf}));
  EXPECT_FALSE(shelf.Put(SpanId{0}, true)) << "it has its place already";
  EXPECT_FALSE(shelf.IsGoing(SpanId{0}));
}

// Layers come and go while the hand is anywhere: every held span is found, and each once.
TEST(EvictionClock, EverySpanOfEveryLayerGoesInTheEnd) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::deque<SpanShelf> all;  // they do not move
    for (int i = 0; i < 4; ++i) all.emplace_back(std::vector<uint64_t>(random() % 6, kSpan));
    EvictionClock clock;
    std::vector<SpanShelf*> shelves;
    std::set<std::pair<SpanShelf*, uint32_t>> held;
    for (SpanShelf& shelf : all) {
      if (random() % 4 != 0) shelves.push_back(&shelf);
    }
    for (SpanShelf* shelf : shelves) {
      for (uint32_t i = 0; i < shelf->span_count(); ++i) {
        if (random() % 2 == 0) continue;
        shelf->Put(SpanId{i}, random() % 2 == 0);
        held.emplace(shelf, i);
      }
    }
    while (const auto victim = clock.Next(shelves)) {
      SpanShelf* shelf = shelves[victim->shelf];
      EXPECT_EQ(held.erase({shelf, ToIndex(victim->span)}), 1u);
      shelf->Remove(victim->span);
      if (random() % 3 != 0 || shelves.size() < 2) continue;
      SpanShelf* gone = shelves.back();
      shelves.pop_back();
      std::erase_if(held, [&](const auto& entry) { return entry.first == gone; });
    }
    EXPECT_TRUE(held.empty());
  }
}

}  // namespace
}  // namespace soci
