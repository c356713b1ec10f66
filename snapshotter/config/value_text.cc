#include "snapshotter/config/value_text.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <limits>
#include <utility>

namespace soci {
namespace {

using Unit = std::pair<std::string_view, uint64_t>;

// The largest first; the last one is the plain number.
constexpr std::array<Unit, 5> kByteUnits = {{{"TiB", uint64_t{1} << 40},
                                             {"GiB", uint64_t{1} << 30},
                                             {"MiB", uint64_t{1} << 20},
                                             {"KiB", uint64_t{1} << 10},
                                             {"", 1}}};
constexpr std::array<Unit, 4> kDurationUnits = {{{"h", 3'600'000}, {"m", 60'000}, {"s", 1'000}, {"ms", 1}}};

Status Malformed(std::string_view text, std::string_view what) {
  return absl::InvalidArgumentError(fmt::format("\"{}\" is not {}", text, what));
}

template <size_t N>
Result<uint64_t> ParseWithUnit(std::string_view text, const std::array<Unit, N>& units, std::string_view what) {
  uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc()) return Malformed(text, what);
  const std::string_view unit(rest, static_cast<size_t>(end - rest));
  for (const auto& [name, factor] : units) {
    if (unit != name) continue;
    if (number > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) / factor) break;
    return number * factor;
  }
  if (unit.empty() && number == 0) return number;
  return Malformed(text, what);
}

template <size_t N>
std::string TextWithUnit(uint64_t value, const std::array<Unit, N>& units) {
  if (value == 0) return "0";
  for (const auto& [name, factor] : units) {
    if (value % factor == 0) return fmt::format("{}{}", value / factor, name);
  }
  return std::to_string(value);
}

}  // namespace

Result<uint64_t> ParseByteSize(std::string_view text) {
  return ParseWithUnit(text, kByteUnits, "a size such as 4096, 64KiB, 8MiB or 2GiB");
}
std::string ByteSizeText(uint64_t bytes) { return TextWithUnit(bytes, kByteUnits); }

Result<std::chrono::milliseconds> ParseDuration(std::string_view text) {
  SOCI_ASSIGN_OR_RETURN(uint64_t count, ParseWithUnit(text, kDurationUnits, "a duration such as 250ms, 30s or 5m"));
  return std::chrono::milliseconds(count);
}
std::string DurationText(std::chrono::milliseconds duration) {
  return TextWithUnit(static_cast<uint64_t>(duration.count()), kDurationUnits);
}

Result<uint32_t> ParseNumber(std::string_view text) {
  uint32_t number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || rest != text.data() + text.size()) return Malformed(text, "a whole number");
  return number;
}

Result<bool> ParseFlag(std::string_view text) {
  if (text == "true") return true;
  if (text == "false") return false;
  return Malformed(text, "true or false");
}

}  // namespace soci
