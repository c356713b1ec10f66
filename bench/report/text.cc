#include "bench/report/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace soci::bench {
namespace {

// How many bytes the UTF-8 character at the start of `text` has; 0 if there is none.
size_t CharBytes(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const size_t count = byte(0) < 0x80 ? 1 : byte(0) >> 5 == 6 ? 2 : byte(0) >> 4 == 14 ? 3 : byte(0) >> 3 == 30 ? 4 : 0;
  if (count == 0 || count > text.size()) return 0;
  for (size_t i = 1; i < count; ++i) {
    if (byte(i) >> 6 != 2) return 0;
  }
  return count;
}

std::string_view Entity(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      return {};
  }
}

bool IsControl(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

}  // namespace

std::string ThreeDigits(double number) {
  if (!std::isfinite(number)) return "?";
  if (number == 0) return "0";  // not "-0"
  const double size = std::abs(number);
  if (size < 0.0995) return fmt::format("{:.3f}", number);
  if (size < 9.995) return fmt::format("{:.2f}", number);
  if (size < 99.95) return fmt::format("{:.1f}", number);
  return fmt::format("{:.0f}", number);
}

std::string Bytes(double bytes) {
  constexpr std::array kUnits = {"B", "kB", "MB", "GB", "TB"};
  size_t unit = 0;
  while (std::abs(bytes) >= 999.5 && unit + 1 < kUnits.size()) bytes /= 1000, ++unit;
  return fmt::format("{} {}", unit == 0 ? fmt::format("{:.0f}", bytes) : ThreeDigits(bytes), kUnits.at(unit));
}

std::string Quantity(double value, Unit unit) {
  switch (unit) {
    case Unit::kSeconds:
      return ThreeDigits(value) + " s";
    case Unit::kMilliseconds:
      return ThreeDigits(value) + " ms";
    case Unit::kBytes:
      return Bytes(value);
    case Unit::kCount:
      return value == std::floor(value) && std::abs(value) < 1e15 ? fmt::format("{:.0f}", value + 0.0)
                                                                  : ThreeDigits(value);
  }
  return "?";
}

std::string Spread(const Summary& summary, Unit unit) {
  const std::string median = Quantity(summary.median, unit);
  const std::string min = Quantity(summary.min, unit), max = Quantity(summary.max, unit);
  if (min == max) return median;
  // One unit for all three where they have the same.
  const auto unit_of = [](const std::string& text) { return text.substr(std::min(text.find(' '), text.size())); };
  const bool same_unit = unit_of(min) == unit_of(median) && unit_of(max) == unit_of(median);
  const auto bare = [&](const std::string& text) { return same_unit ? text.substr(0, text.find(' ')) : text; };
  return fmt::format("{} ({}-{})", median, bare(min), bare(max));
}

std::string RatioText(double ratio) {
  if (!std::isfinite(ratio) || ratio <= 0) return "-";
  return ratio < 1 ? "1 : " + ThreeDigits(1 / ratio) : ThreeDigits(ratio) + " : 1";
}

std::string EscapeHtml(std::string_view text) {
  std::string escaped;
  while (!text.empty()) {
    const size_t count = CharBytes(text);
    if (count == 0 || IsControl(text[0])) {
      escaped += '?';
    } else if (const std::string_view entity = Entity(text[0]); !entity.empty()) {
      escaped += entity;
    } else {
      escaped += text.substr(0, count);
    }
    text.remove_prefix(count == 0 ? 1 : count);
  }
  return escaped;
}

std::string OneLine(std::string_view text) {
  std::string line(text);
  for (char& c : line) {
    if (IsControl(c)) c = '?';
  }
  return line;
}

}  // namespace soci::bench
