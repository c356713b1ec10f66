#include "indexer/net/retry_policy.h"

#include <gtest/gtest.h>

namespace soci {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

FailedAttempt Failed(int attempt, int http_status) {
  FailedAttempt failed;
  failed.attempt = attempt;
  failed.http_status = http_status;
  failed.budget_left = seconds(600);
  return failed;
}

TEST(RetryPolicy, WaitsDoubleUpToTheLongest) {
  RetryPolicy policy;
  for (int attempt = 1; attempt < policy.attempts; ++attempt) {
    milliseconds full = std::min(policy.longest_wait, policy.first_wait * (1 << (attempt - 1)));
    milliseconds wait = NextWait(policy, Failed(attempt, 503)).value();
    EXPECT_GE(wait, full / 2);
    EXPECT_LE(wait, full);
  }
}

TEST(RetryPolicy, OnlyWhatMayPassIsTriedAgain) {
  for (int status : {408, 425, 429, 500, 502, 503, 504}) EXPECT_TRUE(NextWait({}, Failed(1, status))) << status;
  for (int status : {400, 401, 403, 404, 405, 416, 501}) EXPECT_FALSE(NextWait({}, Failed(1, status))) << status;
  FailedAttempt broken = Failed(1, 0);
  EXPECT_TRUE(NextWait({}, broken));
  broken.code = absl::StatusCode::kFailedPrecondition;
  EXPECT_FALSE(NextWait({}, broken));
}

TEST(RetryPolicy, RetryAfterIsObeyed) {
  FailedAttempt failed = Failed(1, 429);
  failed.retry_after = seconds(7);
  milliseconds wait = NextWait({}, failed).value();
  EXPECT_GE(wait, seconds(7));
  EXPECT_LE(wait, seconds(8));
  failed.retry_after = seconds(100'000);
  EXPECT_LE(NextWait({}, failed).value(), seconds(61));
}

TEST(RetryPolicy, AWaitBeyondTheBudgetIsNotBegun) {
  FailedAttempt failed = Failed(1, 429);
  failed.retry_after = seconds(7);
  failed.budget_left = seconds(6);
  EXPECT_FALSE(NextWait({}, failed));
}

TEST(RetryPolicy, TheSameSeedGivesTheSameWaits) {
  FailedAttempt failed = Failed(3, 500);
  failed.jitter_seed = 42;
  EXPECT_EQ(NextWait({}, failed), NextWait({}, failed));
}

TEST(RetryAfter, IsSecondsOrADate) {
  auto now = ParseHttpDate("Sun, 06 Nov 1994 08:49:37 GMT").value();
  EXPECT_EQ(ParseRetryAfter("120", now), seconds(120));
  EXPECT_EQ(ParseRetryAfter("Sun, 06 Nov 1994 08:50:07 GMT", now), seconds(30));
  EXPECT_EQ(ParseRetryAfter("Sun, 06 Nov 1994 08:00:00 GMT", now), seconds(0));
  EXPECT_FALSE(ParseRetryAfter("soon", now));
  EXPECT_FALSE(ParseRetryAfter("-5", now));
  EXPECT_FALSE(ParseRetryAfter("", now));
}

}  // namespace
}  // namespace soci
