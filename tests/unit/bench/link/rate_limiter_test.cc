#include "bench/link/rate_limiter.h"

#include <gtest/gtest.h>

namespace soci {
namespace {

using std::chrono::milliseconds;

const RateLimiter::TimePoint kStart{std::chrono::hours(1)};

TEST(RateLimiter, BytesTakeTheTimeThatTheRateSays) {
  RateLimiter limiter(1000);
  EXPECT_EQ(limiter.Reserve(500, kStart), kStart + milliseconds(500));
}

TEST(RateLimiter, BytesQueueBehindThoseBeforeThem) {
  RateLimiter limiter(1000);
  limiter.Reserve(500, kStart);
  EXPECT_EQ(limiter.Reserve(500, kStart + milliseconds(100)), kStart + milliseconds(1000));
}

TEST(RateLimiter, TimeThatNobodyUsedIsNotSavedUp) {
  RateLimiter limiter(1000);
  limiter.Reserve(100, kStart);
  EXPECT_EQ(limiter.Reserve(100, kStart + milliseconds(5000)), kStart + milliseconds(5100));
}

TEST(RateLimiter, WithinTheSlackLatenessIsMadeUpFor) {
  RateLimiter limiter(1000, milliseconds(50));
  limiter.Reserve(100, kStart);
  EXPECT_EQ(limiter.Reserve(100, kStart + milliseconds(140)), kStart + milliseconds(200));
}

TEST(RateLimiter, BeyondTheSlackTheLineWasIdle) {
  RateLimiter limiter(1000, milliseconds(50));
  limiter.Reserve(100, kStart);
  EXPECT_EQ(limiter.Reserve(100, kStart + milliseconds(151)), kStart + milliseconds(251));
}

TEST(RateLimiter, ARestartLeavesNothingToMakeUpFor) {
  RateLimiter limiter(1000, milliseconds(50));
  limiter.Reserve(100, kStart);
  limiter.Restart(kStart + milliseconds(140));
  EXPECT_EQ(limiter.Reserve(100, kStart + milliseconds(140)), kStart + milliseconds(240));
}

TEST(RateLimiter, ZeroMeansNoLimit) {
  RateLimiter limiter(0);
  EXPECT_EQ(limiter.Reserve(1 << 30, kStart), kStart);
}

}  // namespace
}  // namespace soci
