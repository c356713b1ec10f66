#include "bench/result/statistics.h"

#include <gtest/gtest.h>

#include <limits>

namespace soci::bench {
namespace {

TEST(Statistics, TheMedianOfAnOddNumberIsTheMiddleSample) {
  const auto summary = Summarise({9, 1, 5});
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->count, 3u);
  EXPECT_EQ(summary->median, 5);
  EXPECT_EQ(summary->min, 1);
  EXPECT_EQ(summary->max, 9);
}

TEST(Statistics, TheMedianOfAnEvenNumberLiesBetweenTheMiddleTwo) { EXPECT_EQ(Summarise({4, 1, 2, 9})->median, 3); }

TEST(Statistics, OneSampleIsItsOwnMedianAndExtremes) {
  const auto summary = Summarise({2.5});
  EXPECT_EQ(summary->median, 2.5);
  EXPECT_EQ(summary->min, 2.5);
  EXPECT_EQ(summary->max, 2.5);
}

TEST(Statistics, NoSampleSaysNothing) {
  EXPECT_FALSE(Summarise({}));
  EXPECT_FALSE(Percentile({}, 0.5));
}

TEST(Statistics, SamplesThatAreNotFiniteAreLeftOut) {
  const auto summary =
      Summarise({std::numeric_limits<double>::quiet_NaN(), 3, std::numeric_limits<double>::infinity()});
  EXPECT_EQ(summary->count, 1u);
  EXPECT_EQ(summary->median, 3);
  EXPECT_FALSE(Summarise({std::numeric_limits<double>::quiet_NaN()}));
}

TEST(Statistics, PercentilesOfOneToAHundredAreInterpolated) {
  std::vector<double> samples;
  for (int i = 100; i >= 1; --i) samples.push_back(i);
  EXPECT_DOUBLE_EQ(*Percentile(samples, 0), 1);
  EXPECT_DOUBLE_EQ(*Percentile(samples, 0.5), 50.5);
  EXPECT_DOUBLE_EQ(*Percentile(samples, 0.9), 90.1);
  EXPECT_DOUBLE_EQ(*Percentile(samples, 0.99), 99.01);
  EXPECT_DOUBLE_EQ(*Percentile(samples, 1), 100);
}

TEST(Statistics, AShareOutOfRangeIsRefused) {
  EXPECT_FALSE(Percentile({1, 2}, 1.5));
  EXPECT_FALSE(Percentile({1, 2}, -0.1));
  EXPECT_FALSE(Percentile({1, 2}, std::numeric_limits<double>::quiet_NaN()));
}

TEST(Statistics, SpreadsOverlapWhenTheyShareAValue) {
  const Summary low{3, 2, 1, 3}, touching{3, 4, 3, 5}, high{3, 5, 4, 6};
  EXPECT_TRUE(SpreadsOverlap(low, touching));
  EXPECT_TRUE(SpreadsOverlap(touching, low));
  EXPECT_FALSE(SpreadsOverlap(low, high));
  EXPECT_FALSE(SpreadsOverlap(high, low));
}

}  // namespace
}  // namespace soci::bench
