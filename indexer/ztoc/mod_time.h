// The text by which a zTOC tells a modification time: RFC 3339, in UTC whatever the machine's time zone. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace soci {

struct ModTime {
  int64_t seconds = 0;  // since 1970
  uint32_t nanoseconds = 0;

  bool operator==(const ModTime&) const = default;
};

// What a text that is no time reads as: the first second of year 1.
inline constexpr ModTime kNoModTime{-62135596800, 0};

// Empty for years that the format cannot write (before 0, after 9999).
std::string FormatModTime(ModTime time);

// Any zone offset is understood.
std::optional<ModTime> ParseModTime(std::string_view text);

}  // namespace soci
