#include "fuse/fetch/fetch_policy.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace soci {
namespace {

using Class = FetchClass;
using Waiting = std::array<bool, kFetchClassCount>;
using Running = std::array<uint32_t, kFetchClassCount>;

struct Row {
  const char* name;
  Waiting waiting;  // demand, replay, read-ahead, fill
  Running running;
  DaemonLoad daemon;
  std::optional<Class> expected;
};

constexpr DaemonLoad kQuiet{};
constexpr DaemonLoad kDemandWaits{.demand_waits = true};
constexpr DaemonLoad kBacklog{.backlog = true};

TEST(FetchPolicy, WhatStartsNextFollowsTheStrictOrderOfClasses) {
  const std::vector<Row> rows = {
      {"nothing waits", {0, 0, 0, 0}, {0, 0, 0, 0}, kQuiet, {}},
      {"demand is first", {1, 1, 1, 1}, {0, 0, 0, 0}, kDemandWaits, Class::kDemand},
      {"then replay", {0, 1, 1, 1}, {0, 0, 0, 0}, kQuiet, Class::kReplay},
      {"then read-ahead", {0, 0, 1, 1}, {0, 0, 0, 0}, kQuiet, Class::kReadAhead},
      {"then fill", {0, 0, 0, 1}, {0, 0, 0, 0}, kQuiet, Class::kFill},
      {"demand has a connection although all others are taken",
       {1, 0, 0, 1},
       {0, 16, 0, 16},
       kDemandWaits,
       Class::kDemand},
      {"demand has a connection although there is a backlog",
       {1, 0, 0, 0},
       {3, 0, 0, 0},
       {.demand_waits = true, .backlog = true},
       Class::kDemand},
      {"demand is bounded too", {1, 0, 0, 0}, {16, 0, 0, 0}, kDemandWaits, {}},
      {"no fill starts beside a demand that waits", {0, 0, 0, 1}, {1, 0, 0, 0}, kDemandWaits, {}},
      {"nor beside one of another host", {0, 0, 0, 1}, {0, 0, 0, 0}, kDemandWaits, {}},
      {"a little read-ahead does", {0, 0, 1, 1}, {1, 0, 1, 0}, kDemandWaits, Class::kReadAhead},
      {"and no more", {0, 0, 1, 1}, {1, 1, 1, 0}, kDemandWaits, {}},
      {"nor when there is a backlog", {0, 0, 1, 1}, {1, 0, 0, 0}, {.demand_waits = true, .backlog = true}, {}},
      {"a backlog stops all but demand", {0, 1, 1, 1}, {0, 0, 0, 0}, kBacklog, {}},
      {"replay has sixteen", {0, 1, 0, 0}, {0, 15, 0, 0}, kQuiet, Class::kReplay},
      {"and no more", {0, 1, 0, 0}, {0, 16, 0, 0}, kQuiet, {}},
      {"read-ahead shares them", {0, 0, 1, 0}, {0, 10, 6, 0}, kQuiet, {}},
      {"fill does not take from them", {0, 1, 0, 0}, {0, 15, 0, 17}, kQuiet, Class::kReplay},
      {"fill waits while replay waits for a connection", {0, 1, 0, 1}, {0, 16, 0, 0}, kQuiet, {}},
      {"fill goes up to thirty-two", {0, 0, 0, 1}, {0, 16, 0, 15}, kQuiet, Class::kFill},
      {"and no further", {0, 0, 0, 1}, {0, 16, 0, 16}, kQuiet, {}},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(NextToStart({row.waiting, row.running}, row.daemon, HostBudget{}), row.expected) << row.name;
  }
}

TEST(FetchPolicy, GuestsComeAfterReadAhead) {
  const auto may = [](const HostLoad& host, const DaemonLoad& daemon = {}) {
    return MayGuestStart(host, daemon, HostBudget{});
  };
  EXPECT_TRUE(may({}));
  EXPECT_TRUE(may({.waiting = {0, 0, 0, 1}, .running = {0, 0, 0, 16}}));
  EXPECT_TRUE(may({.guests = 15}));
  EXPECT_FALSE(may({.guests = 16}));
  EXPECT_FALSE(may({.running = {0, 0, 0, 32}}));
  EXPECT_FALSE(may({.running = {0, 8, 8, 8}, .guests = 8}));
  EXPECT_FALSE(may({.waiting = {1, 0, 0, 0}}));
  EXPECT_FALSE(may({.waiting = {0, 0, 1, 0}}));
  EXPECT_TRUE(may({.waiting = {0, 1, 0, 0}}));  // for a program that cannot start before the pull is over
  EXPECT_FALSE(may({}, kDemandWaits));          // of any host
}

TEST(FetchPolicy, ReplayHasAsManyConnectionsAsBringMoreAndNothingLessUrgentTakesTheRest) {
  HostLoad host{.waiting = {false, true, true, true}, .running = {0, 3, 0, 0}};
  HostBudget budget{.replay = 4};
  EXPECT_EQ(NextToStart(host, {}, budget), Class::kReplay);
  EXPECT_FALSE(IsReplayHeldBack(host, {}, budget));
  host.running[1] = 4;
  EXPECT_EQ(NextToStart(host, {}, budget), std::nullopt);
  EXPECT_TRUE(IsReplayHeldBack(host, {}, budget));
  // Then something else holds it back, or nothing.
  EXPECT_FALSE(IsReplayHeldBack(host, {.demand_waits = true}, budget));
  EXPECT_FALSE(IsReplayHeldBack(host, {.backlog = true}, budget));
  host.pull_waits = true;
  EXPECT_FALSE(IsReplayHeldBack(host, {}, budget));
  host.pull_waits = false;
  host.waiting[1] = false;
  EXPECT_FALSE(IsReplayHeldBack(host, {}, budget));
  host.waiting[0] = true;
  EXPECT_EQ(NextToStart(host, {}, budget), Class::kDemand);
}

TEST(FetchPolicy, APullThatWaitsGoesBeforeFillAndAllButALittleReplay) {
  const auto next = [](Waiting waiting, Running running) {
    return NextToStart({.waiting = waiting, .running = running, .pull_waits = true}, kQuiet, HostBudget{});
  };
  EXPECT_EQ(next({0, 0, 0, 1}, {}), std::nullopt);
  EXPECT_EQ(next({0, 1, 0, 1}, {0, kBesideDemand - 1, 0, 0}), Class::kReplay);
  EXPECT_EQ(next({0, 1, 0, 1}, {0, kBesideDemand, 0, 0}), std::nullopt);
  EXPECT_EQ(next({0, 1, 1, 1}, {0, kBesideDemand, 8, 0}), Class::kReadAhead);
  EXPECT_EQ(next({1, 1, 1, 1}, {8, 0, 0, 0}), Class::kDemand);

  EXPECT_TRUE(MustPause(Class::kFill, kQuiet, true, 0, 1));
  EXPECT_FALSE(MustPause(Class::kReplay, kQuiet, true, kBesideDemand - 1));
  EXPECT_TRUE(MustPause(Class::kReplay, kQuiet, true, kBesideDemand));
  EXPECT_FALSE(MustPause(Class::kReadAhead, kQuiet, true, 10));
  EXPECT_FALSE(MustPause(Class::kDemand, kQuiet, true, 10));
  EXPECT_FALSE(IsHeldBack({.waiting = {0, 0, 0, 1}, .running = {0, 0, 0, 32}, .pull_waits = true}, kQuiet, {}));
}

TEST(FetchPolicy, OnlyALittleReadAheadKeepsRunningWhileDemandWaits) {
  for (Class lower : {Class::kReplay, Class::kReadAhead, Class::kFill}) {
    EXPECT_FALSE(MustPause(lower, kQuiet, false, 10));
    EXPECT_TRUE(MustPause(lower, kDemandWaits, false, kBesideDemand));
    EXPECT_TRUE(MustPause(lower, kBacklog, false, 0));
    EXPECT_EQ(MustPause(lower, kDemandWaits, false, 0), lower == Class::kFill);
  }
  EXPECT_FALSE(MustPause(Class::kFill, kDemandWaits, false, 0, 1));
  EXPECT_TRUE(MustPause(Class::kFill, kDemandWaits, false, 1, 1));
  EXPECT_FALSE(MustPause(Class::kDemand, kDemandWaits, false, 10));
  EXPECT_FALSE(MustPause(Class::kDemand, kBacklog, false, 10));
}

TEST(FetchPolicy, FillGoesOnBesideDemandWhereOneConnectionLeavesHalfOfTheLink) {
  EXPECT_EQ(FillBesideDemand(0, 0), 0u);
  EXPECT_EQ(FillBesideDemand(125e6, 0), 0u);
  EXPECT_EQ(FillBesideDemand(125e6, 90e6), 0u);
  EXPECT_EQ(FillBesideDemand(60e6, 25e6), 1u);
  EXPECT_EQ(NextToStart({{false, false, false, true}, {1, 0, 0, 0}}, kDemandWaits, {.fill_beside_demand = 1}),
            Class::kFill);
  EXPECT_EQ(NextToStart({{false, false, false, true}, {1, 0, 1, 0}}, kDemandWaits, {.fill_beside_demand = 1}),
            std::nullopt);
}

TEST(FetchPolicy, MoreConnectionsAreTriedOnlyWhereTheirNumberHoldsFillBack) {
  constexpr HostBudget kFour{.urgent = 16, .total = 4};
  EXPECT_TRUE(IsHeldBack({{false, false, false, true}, {0, 0, 0, 4}}, kQuiet, kFour));
  EXPECT_FALSE(IsHeldBack({{false, false, false, true}, {0, 0, 0, 3}}, kQuiet, kFour));
  EXPECT_FALSE(IsHeldBack({{false, false, false, false}, {0, 0, 0, 4}}, kQuiet, kFour));
  EXPECT_FALSE(IsHeldBack({{false, false, false, true}, {1, 0, 0, 4}}, kDemandWaits, kFour));
  EXPECT_FALSE(IsHeldBack({{false, false, false, true}, {0, 0, 0, 4}}, kBacklog, kFour));
}

TEST(FetchPolicy, ASpanIsAskedForAgainWhenWhatComesBeforeItCostsMoreThanThat) {
  constexpr uint64_t kMega = 1'000'000;
  EXPECT_FALSE(IsSoonerAlone({.ahead = 0, .span = kMega, .flowing = true}, 0));
  EXPECT_FALSE(IsSoonerAlone({.ahead = 3 * kMega, .span = kMega, .flowing = true}, 2 * kMega));
  EXPECT_TRUE(IsSoonerAlone({.ahead = 3 * kMega + 1, .span = kMega, .flowing = true}, 2 * kMega));
  // Both have their first byte to wait for.
  EXPECT_TRUE(IsSoonerAlone({.ahead = 2 * kMega + 1, .span = kMega, .flowing = false}, 2 * kMega));
  EXPECT_FALSE(IsSoonerAlone({.ahead = 2 * kMega, .span = kMega, .flowing = false}, 2 * kMega));
  // The span itself is paid for twice, however short the way.
  EXPECT_FALSE(IsSoonerAlone({.ahead = 2 * kMega, .span = kMega, .flowing = true}, 0));
}

TEST(FetchPolicy, OnlyWhatMayPassIsTriedAgain) {
  EXPECT_TRUE(IsWorthRetrying(absl::UnavailableError("")));
  EXPECT_TRUE(IsWorthRetrying(absl::DeadlineExceededError("")));
  EXPECT_TRUE(IsWorthRetrying(absl::ResourceExhaustedError("")));
  EXPECT_FALSE(IsWorthRetrying(absl::NotFoundError("")));
  EXPECT_FALSE(IsWorthRetrying(absl::PermissionDeniedError("")));
  EXPECT_FALSE(IsWorthRetrying(absl::UnauthenticatedError("")));
  EXPECT_FALSE(IsWorthRetrying(absl::CancelledError("")));
  EXPECT_FALSE(IsWorthRetrying(absl::OutOfRangeError("")));
}

TEST(FetchPolicy, DelaysDoubleUpToALimit) {
  using std::chrono::milliseconds;
  EXPECT_EQ(RetryDelay(1, true), milliseconds(100));
  EXPECT_EQ(RetryDelay(3, true), milliseconds(400));
  EXPECT_EQ(RetryDelay(100, true), milliseconds(2000));
  EXPECT_EQ(RetryDelay(1, false), milliseconds(1000));
  EXPECT_EQ(RetryDelay(100, false), milliseconds(60'000));
}

}  // namespace
}  // namespace soci
