#include "indexer/tar/number.h"

#include <charconv>
#include <limits>

namespace soci::tar {
namespace {

std::optional<int64_t> ParseBase256(std::string_view field) {
  const bool negative = (static_cast<uint8_t>(field[0]) & 0x40) != 0;
  const uint8_t invert = negative ? 0xff : 0;
  uint64_t value = 0;
  for (size_t i = 0; i < field.size(); ++i) {
    uint8_t byte = static_cast<uint8_t>(field[i]) ^ invert;
    if (i == 0) byte &= 0x7f;
    if (value >> 56 != 0) return std::nullopt;
    value = value << 8 | byte;
  }
  if (value >> 63 != 0) return std::nullopt;
  return static_cast<int64_t>(negative ? ~value : value);
}

}  // namespace

std::optional<int64_t> ParseOctal(std::string_view field) {
  constexpr std::string_view kPadding("\0 ", 2);
  size_t begin = field.find_first_not_of(kPadding);
  if (begin == std::string_view::npos) return 0;
  field = field.substr(begin, field.find_last_not_of(kPadding) - begin + 1);
  field = field.substr(0, field.find('\0'));
  uint64_t value = 0;
  auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value, 8);
  if (error != std::errc() || end != field.data() + field.size()) return std::nullopt;
  return static_cast<int64_t>(value);
}

std::optional<int64_t> ParseNumeric(std::string_view field) {
  if (!field.empty() && (static_cast<uint8_t>(field[0]) & 0x80) != 0) return ParseBase256(field);
  return ParseOctal(field);
}

std::optional<int64_t> ParseDecimal(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);  // from_chars knows no plus sign
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 10);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<Time> ParsePaxTime(std::string_view text) {
  const size_t dot = text.find('.');
  const std::string_view whole = text.substr(0, dot);
  std::optional<int64_t> seconds = ParseDecimal(whole);
  if (!seconds) return std::nullopt;
  uint32_t nanoseconds = 0;
  if (dot != std::string_view::npos) {
    uint32_t unit = 100'000'000;
    for (char digit : text.substr(dot + 1)) {
      if (digit < '0' || digit > '9') return std::nullopt;
      nanoseconds += static_cast<uint32_t>(digit - '0') * unit;
      unit /= 10;  // 0 past the ninth digit
    }
  }
  if (nanoseconds == 0 || whole[0] != '-') return Time{*seconds, nanoseconds};
  // Both parts are negative: -1.25 is 0.75 after -2. The lowest number wraps, as it does in the reference reader.
  return Time{static_cast<int64_t>(static_cast<uint64_t>(*seconds) - 1), 1'000'000'000 - nanoseconds};
}

}  // namespace soci::tar
