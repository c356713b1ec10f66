#include "bench/link/options.h"

#include <gtest/gtest.h>

namespace soci {
namespace {

TEST(LinkUnits, DelaysAndRatesAreReadWithTheirUnits) {
  EXPECT_EQ(*ParseDelay("30ms"), std::chrono::milliseconds(30));
  EXPECT_EQ(*ParseDelay("1.5s"), std::chrono::milliseconds(1500));
  EXPECT_EQ(*ParseRate("90MB/s"), 90'000'000u);
  EXPECT_EQ(*ParseRate("2MiB/s"), 2u << 20);
  EXPECT_EQ(*ParseRate("0"), 0u);
}

TEST(LinkUnits, NumbersWithoutUnitAndNonsenseAreRefused) {
  for (const char* text : {"", "30", "ms", "-1ms", "1h", "nanms"}) EXPECT_FALSE(ParseDelay(text).ok()) << text;
  for (const char* text : {"", "90", "90MB", "-1MB/s", "1e30B/s"}) EXPECT_FALSE(ParseRate(text).ok()) << text;
}

}  // namespace
}  // namespace soci
