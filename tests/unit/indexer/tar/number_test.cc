#include "indexer/tar/number.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "tests/unit/indexer/tar/raw_tar.h"

namespace soci::tar {
namespace {

using namespace std::string_view_literals;

TEST(OctalField, MayBePaddedWithSpacesAndNuls) {
  EXPECT_EQ(ParseOctal("0000644\0"sv), 0644);
  EXPECT_EQ(ParseOctal("   644 \0"sv), 0644);
  EXPECT_EQ(ParseOctal("\0\0 12\0\0"sv), 012);
  EXPECT_EQ(ParseOctal("12345670"sv), 012345670);
}

TEST(OctalField, OfNothingIsZero) {
  EXPECT_EQ(ParseOctal(""sv), 0);
  EXPECT_EQ(ParseOctal("\0\0\0\0"sv), 0);
  EXPECT_EQ(ParseOctal("    "sv), 0);
}

TEST(OctalField, IsRefusedWithOtherCharactersOrASign) {
  EXPECT_EQ(ParseOctal("8"sv), std::nullopt);
  EXPECT_EQ(ParseOctal("-7"sv), std::nullopt);
  EXPECT_EQ(ParseOctal("1 2"sv), std::nullopt);
  EXPECT_EQ(ParseOctal("0x1"sv), std::nullopt);
}

TEST(OctalField, EndsAtANulInside) { EXPECT_EQ(ParseOctal("12\0x7"sv), 012); }

TEST(NumericField, MayBeBase256AndNegative) {
  for (const int64_t number : {int64_t{0}, int64_t{-1}, int64_t{-3600}, int64_t{1} << 40,
                               std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()}) {
    EXPECT_EQ(ParseNumeric(Base256(number, 12)), number);
  }
  EXPECT_EQ(ParseNumeric(Base256(1 << 20, 8)), 1 << 20);
}

TEST(NumericField, IsRefusedWhenItHasMoreThan63Bits) {
  std::string field = Base256(1, 12);
  field[2] = 1;
  EXPECT_EQ(ParseNumeric(field), std::nullopt);
  field = Base256(1, 12);
  field[4] = static_cast<char>(0x80);
  EXPECT_EQ(ParseNumeric(field), std::nullopt);
}

TEST(Decimal, IsAWholeNumberAndNothingElse) {
  EXPECT_EQ(ParseDecimal("-12"), -12);
  EXPECT_EQ(ParseDecimal("+12"), 12);
  for (const char* text : {"", "+", "-", "+-1", "++1", " 1", "1 ", "1.0", "9223372036854775808"}) {
    EXPECT_EQ(ParseDecimal(text), std::nullopt) << text;
  }
}

void ExpectTime(std::string_view text, int64_t seconds, uint32_t nanoseconds) {
  const std::optional<Time> time = ParsePaxTime(text);
  ASSERT_TRUE(time.has_value()) << text;
  EXPECT_EQ(time->seconds, seconds) << text;
  EXPECT_EQ(time->nanoseconds, nanoseconds) << text;
}

TEST(PaxTime, HasAFractionThatIsCutAfterNineDigits) {
  ExpectTime("1.25", 1, 250'000'000);
  ExpectTime("1.", 1, 0);
  ExpectTime("1.1234567891", 1, 123'456'789);
}

TEST(PaxTime, Before1970CountsItsFractionDownwards) {
  ExpectTime("-1.25", -2, 750'000'000);
  ExpectTime("-0.5", -1, 500'000'000);
  ExpectTime("-7", -7, 0);
}

TEST(PaxTime, IsRefusedWithoutSecondsOrWithOtherCharacters) {
  for (const char* text : {"", ".5", "1.2.3", "1.-2", "x", "1.5x"}) EXPECT_FALSE(ParsePaxTime(text)) << text;
}

}  // namespace
}  // namespace soci::tar
