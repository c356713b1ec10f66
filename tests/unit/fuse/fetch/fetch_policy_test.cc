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

TEST(FetchPolicy, OnlyALittleReadAheadKeepsRunningWhileDemandWaits) {
  for (Class lower : {Class::kReplay, Class::kReadAhead, Class::kFill}) {
    EXPECT_FALSE(MustPause(lower, kQuiet, 10));
    EXPECT_TRUE(MustPause(lower, kDemandWaits, kBesideDemand));
    EXPECT_TRUE(MustPause(lower, kBacklog, 0));
    EXPECT_EQ(MustPause(lower, kDemandWaits, 0), lower == Class::kFill);
  }
  EXPECT_FALSE(MustPause(Class::kDemand, kDemandWaits, 10));
  EXPECT_FALSE(MustPause(Class::kDemand, kBacklog, 10));
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
