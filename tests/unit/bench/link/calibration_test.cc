// What a busy machine measures is not asserted, only that a limit is felt: without one, loopback is tens of times
// faster.
#include "bench/link/calibration.h"

#include <gmock/gmock.h>

#include <thread>

namespace soci {
namespace {

TEST(Calibration, FeelsEachLimitOfALink) {
  const auto calibration = Calibrate({.delay = std::chrono::milliseconds(2),
                                      .connection_bytes_per_second = 20'000'000,
                                      .total_bytes_per_second = 50'000'000},
                                     10'000'000);
  ASSERT_TRUE(calibration.ok()) << calibration.status();
  ASSERT_EQ(calibration->figures.size(), 3u);
  EXPECT_GE(calibration->figures[0].measured, 2);
  EXPECT_LT(calibration->figures[1].measured, 100e6);
  EXPECT_LT(calibration->figures[2].measured, 250e6);
}

TEST(Calibration, OfAnUnlimitedLinkHasNothingToSay) {
  const auto calibration = Calibrate({}, 1);
  ASSERT_TRUE(calibration.ok());
  EXPECT_EQ(calibration->ToText(), "nothing is limited");
  EXPECT_TRUE(calibration->Within(0));
}

// What it was stopped at would take hours.
TEST(Calibration, EndsWhenItIsStopped) {
  const LinkOptions slow = {.connection_bytes_per_second = 1000, .total_bytes_per_second = 1000};
  std::stop_source stop;
  std::jthread stopping([&stop] { stop.request_stop(); });
  EXPECT_EQ(Calibrate(slow, uint64_t{64} << 20, stop.get_token()).status().code(), absl::StatusCode::kCancelled);
}

TEST(Calibration, SaysHowFarOffALinkIs) {
  const Calibration calibration{{{"delay", 30, 33}, {"one connection", 90e6, 89.1e6}}};
  EXPECT_FALSE(calibration.Within(0.05));
  EXPECT_TRUE(calibration.Within(0.11));
  EXPECT_EQ(calibration.ToText(), "delay 33.0 ms (+10.0 %), one connection 89.1 MB/s (-1.0 %)");
}

}  // namespace
}  // namespace soci
