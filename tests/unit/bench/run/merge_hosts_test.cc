#include <gtest/gtest.h>

#include "bench/run/gang.h"

namespace soci::bench {
namespace {

bench::Run Host(double ready, uint64_t bytes) {
  bench::Run run;
  run.mode = "lazy";
  run.points = {{"first output", ready / 2, {bytes / 2, 1, 1}}, {"ready", ready, {bytes, 2, 1}}};
  run.resources.daemon_cpu_seconds = 1;
  run.counts["soci_demand_misses_total"] = 10;
  run.read_milliseconds = {ready};
  return run;
}

TEST(Gang, APointIsThatOfTheHostThatIsLast) {
  const bench::Run merged = MergeHosts({Host(4, 400), Host(8, 900), Host(6, 600)});
  ASSERT_EQ(merged.points.size(), 2u);
  EXPECT_EQ(merged.points[1].seconds, 8);
  EXPECT_EQ(merged.points[1].traffic.bytes, 900u);
}

TEST(Gang, CostsAndCountsAreThoseOfAll) {
  const bench::Run merged = MergeHosts({Host(4, 400), Host(8, 900)});
  EXPECT_EQ(merged.resources.daemon_cpu_seconds, 2);
  EXPECT_EQ(merged.counts.at("soci_demand_misses_total"), 20);
  EXPECT_EQ(merged.read_milliseconds.size(), 2u);
}

TEST(Gang, WhatOneHostNeverReachedWasNotReached) {
  bench::Run failed = Host(3, 1);
  failed.points.pop_back();
  failed.error = "the pull failed";
  const bench::Run merged = MergeHosts({Host(4, 400), failed});
  ASSERT_EQ(merged.points.size(), 1u);
  EXPECT_EQ(merged.points[0].name, "first output");
  EXPECT_EQ(merged.error, "the pull failed");
  EXPECT_TRUE(MergeHosts({}).points.empty());
}

}  // namespace
}  // namespace soci::bench
