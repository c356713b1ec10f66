#include "bench/result/codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace soci::bench {
namespace {

using ::testing::HasSubstr;

Result Sample() {
  Result result;
  result.environment = {
      "2026-12-02", "abc123", "6.1", "some cpu", "1.6.20", "0.1.0", 2, uint64_t{8} << 30, {{"stargz", "stargz 0.18"}}};
  result.calibrations = {{"A", 125e6, 90e6, 30.4}};
  Run run;
  run.mode = "lazy";
  run.repeat = 2;
  run.points = {{"ready", 1.5, {1000, 20, 3}}, {"fully local", 9.25, {uint64_t{1} << 40, 30, 4}}};
  run.resources = {1.25, 0.5, 100, 200, 300};
  run.bytes_over_time = {{0.1, 5}, {0.2, 10}};
  run.read_milliseconds = {0.5, 31.25};
  run.counts = {{"spans fetched", 17}};
  run.error = "lost \"it\"\n";
  result.scenarios = {{"start", "S", "A", "import", 11, 22, {run, {}}}};
  return result;
}

std::string ErrorOf(std::string_view json) {
  const auto read = FromJson(json);
  return read.ok() ? "none" : std::string(Message(read.status()));
}

TEST(ResultCodec, WhatIsReadEqualsWhatWasWritten) {
  const std::string json = ToJson(Sample());
  const auto read = FromJson(json);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(ToJson(*read), json);
  const bench::Run& run = read->scenarios.at(0).runs.at(0);
  EXPECT_EQ(run.points.at(1).traffic.bytes, uint64_t{1} << 40);
  EXPECT_EQ(run.counts.at("spans fetched"), 17);
  EXPECT_EQ(run.error, "lost \"it\"\n");
  EXPECT_EQ(read->environment.memory_bytes, uint64_t{8} << 30);
  EXPECT_EQ(read->environment.others.at("stargz"), "stargz 0.18");
  EXPECT_EQ(read->calibrations.at(0).delay_ms, 30.4);
}

TEST(ResultCodec, ANumberThatIsNotFiniteComesBackAsNone) {
  Result result = Sample();
  result.scenarios[0].runs[0].points[0].seconds = std::numeric_limits<double>::infinity();
  const auto read = FromJson(ToJson(result));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_TRUE(std::isnan(read->scenarios[0].runs[0].points[0].seconds));
}

TEST(ResultCodec, MissingKeysKeepTheirDefaults) {
  const auto read = FromJson(R"({"format":1,"scenarios":[{"name":"x"}]})");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->scenarios[0].name, "x");
  EXPECT_TRUE(read->scenarios[0].runs.empty());
}

TEST(ResultCodec, AnUnknownKeyIsNamedWithItsPlace) {
  EXPECT_EQ(ErrorOf(R"({"format":1,"scenarios":[{"runs":[{"modus":"x"}]}]})"),
            "result.scenarios[0].runs[0]: unknown key \"modus\"");
}

TEST(ResultCodec, AValueOfAnotherKindIsNamedWithItsPlace) {
  EXPECT_EQ(ErrorOf(R"({"format":1,"environment":{"cores":"two"}})"),
            "result.environment.cores is not a whole number from 0");
  EXPECT_EQ(ErrorOf(R"({"format":1,"environment":{"cores":-2}})"),
            "result.environment.cores is not a whole number from 0");
  EXPECT_EQ(ErrorOf(R"({"format":1,"environment":{"cores":99999999999}})"),
            "result.environment.cores is not a number of a sensible size");
  EXPECT_EQ(ErrorOf(R"({"format":1,"scenarios":{}})"), "result.scenarios is not a list");
  EXPECT_EQ(ErrorOf(R"({"format":1,"scenarios":[7]})"), "result.scenarios[0] is not an object");
  EXPECT_EQ(ErrorOf(R"({"format":1,"scenarios":[{"runs":[{"counts":{"a":[]}}]}]})"),
            "result.scenarios[0].runs[0].counts[\"a\"] is not a number");
}

TEST(ResultCodec, AnUnknownKeyIsShownInOneShortLine) {
  const std::string error = ErrorOf(R"({"format":1,"a\nb)" + std::string(5000, 'x') + R"(":1})");
  EXPECT_LT(error.size(), 120u);
  EXPECT_EQ(error.find('\n'), std::string::npos);
}

TEST(ResultCodec, WhatIsNoResultIsRefused) {
  EXPECT_THAT(ErrorOf(""), HasSubstr("not JSON at byte"));
  EXPECT_THAT(ErrorOf("{\"format\":1"), HasSubstr("not JSON at byte"));
  EXPECT_THAT(ErrorOf("[]"), HasSubstr("not a benchmark's result"));
  EXPECT_THAT(ErrorOf("{}"), HasSubstr("not a benchmark's result"));
  EXPECT_THAT(ErrorOf(R"({"format":2})"), HasSubstr("another format"));
  EXPECT_THAT(ErrorOf(R"({"format":1,"x":1e999})"), HasSubstr("not JSON"));
}

TEST(ResultCodec, DeepNestingDoesNotOverflowTheStack) {
  EXPECT_THAT(ErrorOf(std::string(1'000'000, '[')), HasSubstr("not JSON"));
  const std::string deep = std::string(500'000, '[') + std::string(500'000, ']');
  EXPECT_THAT(ErrorOf(R"({"format":1,"x":)" + deep + "}"), HasSubstr("unknown key"));
}

TEST(ResultCodec, AMissingFileIsNamed) {
  const auto read = ReadResult("/nonexistent/result.json");
  ASSERT_FALSE(read.ok());
  EXPECT_THAT(std::string(Message(read.status())), HasSubstr("/nonexistent/result.json"));
}

}  // namespace
}  // namespace soci::bench
