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

TEST(LinkNotation, ALinkIsThreeFiguresOrAProfile) {
  const auto link = ParseLink("30ms,90MB/s,125MB/s");
  ASSERT_TRUE(link.ok());
  EXPECT_EQ(LinkText(*link), "30 ms, 90 MB/s per connection, 125 MB/s in all");
  EXPECT_EQ(LinkText(ParseLink("A").value()), LinkText(*link));
  EXPECT_EQ(LinkText(ParseLink("B").value()), "100 ms, 25 MB/s per connection, 60 MB/s in all");
  EXPECT_EQ(LinkText(ParseLink("C").value()), "10 ms, 90 MB/s per connection, 400 MB/s in all");
  EXPECT_EQ(LinkText(ParseLink("0ms,0,0").value()), "0 ms, no limit per connection, no limit in all");
}

TEST(LinkNotation, ASpreadAndItsSeedComeAfterIt) {
  const auto link = ParseLink("A,p99=150ms,seed=7");
  ASSERT_TRUE(link.ok());
  EXPECT_EQ(link->seed, 7u);
  EXPECT_EQ(LinkText(*link), "30 ms (99 %: 150 ms), 90 MB/s per connection, 125 MB/s in all");
}

TEST(LinkNotation, WhatIsNoLinkIsRefused) {
  for (const char* text :
       {"", "Z", "30ms", "30ms,90MB/s", "30ms,90,125MB/s", "A,p99=", "A,p99=1ms", "A,seed=x", "A,loss=1"}) {
    EXPECT_EQ(ParseLink(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

}  // namespace
}  // namespace soci
