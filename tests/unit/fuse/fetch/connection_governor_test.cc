#include "fuse/fetch/connection_governor.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace soci {
namespace {

// A link of so many bytes a second, of which one connection gets so many.
void Give(ConnectionGovernor& governor, uint64_t total, uint64_t each, int stretches) {
  for (int i = 0; i < stretches * 50; ++i) {
    governor.Note(std::min(total, each * governor.limit()) / 100, std::chrono::milliseconds(10));
  }
}

TEST(ConnectionGovernor, ItGrowsWhileTheRateGrows) {
  ConnectionGovernor governor(32);
  EXPECT_EQ(governor.limit(), 4u);
  Give(governor, 100'000'000, 5'000'000, 14);
  EXPECT_GE(governor.limit(), 18u);
  EXPECT_LE(governor.limit(), 28u);
}

TEST(ConnectionGovernor, ConnectionsThatBringNothingAreTakenBack) {
  ConnectionGovernor governor(32);
  Give(governor, 125'000'000, 90'000'000, 3);
  EXPECT_EQ(governor.limit(), 4u);
  Give(governor, 125'000'000, 90'000'000, 100);
  EXPECT_LE(governor.limit(), 4u);  // it looks for fewer too
}

TEST(ConnectionGovernor, ItNeverPassesTheHostsBudget) {
  ConnectionGovernor governor(10);
  Give(governor, 1'000'000'000, 1'000'000, 50);
  EXPECT_EQ(governor.limit(), 10u);
  ConnectionGovernor single(1);
  Give(single, 1'000'000'000, 1'000'000, 50);
  EXPECT_EQ(single.limit(), 1u);
}

TEST(ConnectionGovernor, ALinkThatChangesIsFoundOut) {
  ConnectionGovernor governor(32);
  Give(governor, 125'000'000, 90'000'000, 10);
  Give(governor, 125'000'000, 5'000'000, 100);
  EXPECT_GE(governor.limit(), 15u);
}

TEST(ConnectionGovernor, InAHurryItDoublesWhileThatBringsMuchMore) {
  ConnectionGovernor governor(16, ConnectionGovernor::Start::kInAHurry);
  EXPECT_EQ(governor.limit(), 4u);
  Give(governor, 125'000'000, 8'000'000, 2);  // a second
  EXPECT_EQ(governor.limit(), 16u);
  ConnectionGovernor in_steps(16);
  Give(in_steps, 125'000'000, 8'000'000, 2);
  EXPECT_LE(in_steps.limit(), 6u);
}

TEST(ConnectionGovernor, InAHurryItIsContentWithHalfMoreWhereTwiceAsManyAreTooMany) {
  ConnectionGovernor governor(16, ConnectionGovernor::Start::kInAHurry);
  Give(governor, 12'500'000, 12'500'000, 2);
  EXPECT_EQ(governor.limit(), 6u);
  Give(governor, 12'500'000, 12'500'000, 100);
  EXPECT_LE(governor.limit(), 4u) << "and looks for fewer later";
}

TEST(ConnectionGovernor, ShortStretchesAddUp) {
  ConnectionGovernor governor(32);
  for (int i = 0; i < 75; ++i) governor.Note(governor.limit() * 50'000, std::chrono::milliseconds(10));
  EXPECT_EQ(governor.limit(), 6u);
}

TEST(ConnectionGovernor, WhatIsInterruptedSaysNothing) {
  ConnectionGovernor governor(32);
  for (int i = 0; i < 100; ++i) {
    Give(governor, 1'000'000'000, 5'000'000, 1);  // all of it warms up
    governor.Interrupt();
  }
  EXPECT_EQ(governor.limit(), 4u);
}

}  // namespace
}  // namespace soci
