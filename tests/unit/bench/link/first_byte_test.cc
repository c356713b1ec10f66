#include "bench/link/first_byte.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace soci {
namespace {

using std::chrono::milliseconds;

std::vector<double> Draw(FirstByteDelay& delay, int count) {
  std::vector<double> ms;
  for (int i = 0; i < count; ++i) ms.push_back(static_cast<double>(delay.Next().count()) / 1000);
  return ms;
}

TEST(FirstByteDelay, WithoutSpreadIsAlwaysTheMedian) {
  FirstByteDelay delay(milliseconds(30), milliseconds(0), 1);
  EXPECT_EQ(Draw(delay, 3), (std::vector<double>{30, 30, 30}));
}

TEST(FirstByteDelay, HasTheMedianAndThePercentileThatWereAskedFor) {
  FirstByteDelay delay(milliseconds(30), milliseconds(150), 7);
  std::vector<double> ms = Draw(delay, 20'000);
  std::sort(ms.begin(), ms.end());
  EXPECT_NEAR(ms[10'000], 30, 1);
  EXPECT_NEAR(ms[19'800], 150, 15);
}

TEST(FirstByteDelay, TheSameSeedGivesTheSameDraws) {
  FirstByteDelay one(milliseconds(30), milliseconds(150), 7), same(milliseconds(30), milliseconds(150), 7);
  FirstByteDelay other(milliseconds(30), milliseconds(150), 8);
  const std::vector<double> draws = Draw(one, 20);
  EXPECT_EQ(draws, Draw(same, 20));
  EXPECT_NE(draws, Draw(other, 20));
}

}  // namespace
}  // namespace soci
