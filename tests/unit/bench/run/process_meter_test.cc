#include "bench/run/process_meter.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace soci::bench {
namespace {

constexpr char kStat[] =
    "4242 (a (strange) name) S 1 4242 4242 0 -1 4194560 900 100 0 0 250 50 30 20 20 0 12 0 100 1000000 2000 1844 1 1";
constexpr char kStatus[] =
    "Name:\tx\nVmRSS:\t 9999 kB\nRssAnon:\t    100 kB\nRssFile:\t     30 kB\nRssShmem:\t      4 kB\n";
constexpr char kIo[] = "rchar: 5\nwchar: 6\nread_bytes: 7\nwrite_bytes: 8192\ncancelled_write_bytes: 1\n";

TEST(ProcessMeter, ASampleIsReadFromWhatTheKernelWrites) {
  const auto sample = ParseSample(kStat, kStatus, kIo, 100);
  ASSERT_TRUE(sample);
  EXPECT_DOUBLE_EQ(sample->cpu_seconds, 3.5);  // of it and of children that were waited for
  EXPECT_EQ(sample->anonymous_bytes, 100u << 10);
  EXPECT_EQ(sample->file_bytes, 34u << 10);
  EXPECT_EQ(sample->written_bytes, 8192u);  // not the cancelled ones
}

TEST(ProcessMeter, AProcessThatIsGoneHasNoSample) {
  EXPECT_FALSE(ParseSample("", "", "", 100));
  EXPECT_FALSE(ParseSample("1 (x) S 1 2", "", "", 100));
}

TEST(ProcessMeter, WhatAProcessDoesMeanwhileIsCounted) {
  ProcessMeter meter({{"this", ::getpid()}, {"nobody", -1}});
  meter.Stop();
  meter.Stop();
  ASSERT_EQ(meter.processes().size(), 2u);
  EXPECT_EQ(meter.processes()[0].name, "nobody");
  EXPECT_EQ(meter.processes()[0].used.anonymous_bytes, 0u);
  EXPECT_GT(meter.processes()[1].used.anonymous_bytes, 0u);
  EXPECT_GE(meter.total().cpu_seconds, 0);
}

}  // namespace
}  // namespace soci::bench
