#include "bench/run/timeline.h"

#include <gtest/gtest.h>

#include <atomic>

namespace soci::bench {
namespace {

TEST(Timeline, TrafficCountsFromItsBeginning) {
  std::atomic<uint64_t> bytes{1000};
  Timeline timeline([&] { return Traffic{bytes, 7, 2}; });
  bytes = 1500;
  timeline.Take("ready");
  const std::vector<Point> points = timeline.points();
  ASSERT_EQ(points.size(), 1u);
  EXPECT_EQ(points[0].traffic.bytes, 500u);
  EXPECT_EQ(points[0].traffic.requests, 0u);
  EXPECT_GE(points[0].seconds, 0);
}

TEST(Timeline, TheFirstOfTwoPointsWithOneNameCounts) {
  std::atomic<uint64_t> bytes{0};
  Timeline timeline([&] { return Traffic{bytes, 0, 0}; });
  timeline.Take("ready");
  bytes = 10;
  timeline.Take("ready");
  ASSERT_EQ(timeline.points().size(), 1u);
  EXPECT_EQ(timeline.points()[0].traffic.bytes, 0u);
}

TEST(Timeline, APointCanBeKnownByAnotherNameToo) {
  Timeline timeline([] { return Traffic{}; });
  timeline.Take("snapshotter ready");
  timeline.Take("ready");
  timeline.Repeat("snapshotter ready", "fully local");
  timeline.Repeat("never taken", "nor this");
  const std::vector<Point> points = timeline.points();
  ASSERT_EQ(points.size(), 3u);
  EXPECT_EQ(points[1].name, "fully local");  // in the order of times
  EXPECT_EQ(points[1].seconds, points[0].seconds);
}

TEST(Timeline, TheLastSampleOfBytesIsTakenAtTheEnd) {
  std::atomic<uint64_t> bytes{0};
  Timeline timeline([&] { return Traffic{bytes, 0, 0}; });
  bytes = 42;
  timeline.Stop();
  ASSERT_FALSE(timeline.bytes_over_time().empty());
  EXPECT_EQ(timeline.bytes_over_time().back().bytes, 42u);
}

}  // namespace
}  // namespace soci::bench
