#include "indexer/ztoc/mod_time.h"

#include <gtest/gtest.h>

namespace soci {
namespace {

TEST(ModTime, IsWrittenInUtcWithoutTrailingZeros) {
  EXPECT_EQ(FormatModTime({0, 0}), "1970-01-01T00:00:00Z");
  EXPECT_EQ(FormatModTime({1'700'000'000, 123'456'700}), "2023-11-14T22:13:20.1234567Z");
  EXPECT_EQ(FormatModTime({-1, 500'000'000}), "1969-12-31T23:59:59.5Z");
  EXPECT_EQ(FormatModTime({0, 1}), "1970-01-01T00:00:00.000000001Z");
}

TEST(ModTime, IsEmptyForYearsThatCannotBeWritten) {
  EXPECT_EQ(FormatModTime({253402300799, 0}), "9999-12-31T23:59:59Z");
  EXPECT_EQ(FormatModTime({253402300800, 0}), "");
  EXPECT_EQ(FormatModTime({-62167219200, 0}), "0000-01-01T00:00:00Z");
  EXPECT_EQ(FormatModTime({-62167219201, 0}), "");
  EXPECT_EQ(FormatModTime({INT64_MAX, 0}), "");
  EXPECT_EQ(FormatModTime({INT64_MIN, 0}), "");
}

TEST(ModTime, ReadsBackAsItWasWritten) {
  for (const int64_t seconds :
       {int64_t{0}, int64_t{-1}, int64_t{951'782'400}, int64_t{253402300799}, int64_t{-62167219200}}) {
    const ModTime time{seconds, 987'654'321};
    EXPECT_EQ(ParseModTime(FormatModTime(time)), time) << seconds;
  }
}

TEST(ModTime, MayBeWrittenInAnotherZone) {
  EXPECT_EQ(ParseModTime("1970-01-01T09:00:00+09:00"), (ModTime{0, 0}));
  EXPECT_EQ(ParseModTime("1969-12-31T18:30:00-05:30"), (ModTime{0, 0}));
}

TEST(ModTime, IsNoneWhenTheTextIsNot) {
  for (const char* text :
       {"", "1970-01-01", "1970-01-01T00:00:00", "1970-13-01T00:00:00Z", "1970-02-30T00:00:00Z", "1970-01-01T24:00:00Z",
        "1970-01-01T00:00:00.Z", "1970-01-01T00:00:00Zx", "1970-01-01T00:00:00+9:00"}) {
    EXPECT_EQ(ParseModTime(text), std::nullopt) << text;
  }
}

TEST(ModTime, ThatIsNoneIsTheFirstSecondOfYearOne) { EXPECT_EQ(FormatModTime(kNoModTime), "0001-01-01T00:00:00Z"); }

}  // namespace
}  // namespace soci
