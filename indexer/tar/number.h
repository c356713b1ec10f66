// The number fields of tar headers and PAX records. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace soci::tar {

// A field padded with spaces and NULs, in octal; an empty one is 0. Nothing if it is no such number.
std::optional<int64_t> ParseOctal(std::string_view field);

// Octal, or big-endian two's complement when the first byte's high bit is set (GNU's base-256).
std::optional<int64_t> ParseNumeric(std::string_view field);

// A whole signed decimal number, nothing around it.
std::optional<int64_t> ParseDecimal(std::string_view text);

struct Time {
  int64_t seconds = 0;
  uint32_t nanoseconds = 0;
};

// "seconds[.fraction]", also before 1970. Digits past the nanosecond are cut off.
std::optional<Time> ParsePaxTime(std::string_view text);

}  // namespace soci::tar
