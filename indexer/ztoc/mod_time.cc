#include "indexer/ztoc/mod_time.h"

#include <fmt/format.h>

#include <chrono>

namespace soci {
namespace {

constexpr int64_t kFirstSecond = -62167219200;  // 0000-01-01T00:00:00Z
constexpr int64_t kLastSecond = 253402300799;   // 9999-12-31T23:59:59Z
constexpr int64_t kSecondsPerDay = 86400;

// Takes exactly `digits` digits off the front.
std::optional<int> TakeNumber(std::string_view& text, size_t digits) {
  if (text.size() < digits) return std::nullopt;
  int number = 0;
  for (char digit : text.substr(0, digits)) {
    if (digit < '0' || digit > '9') return std::nullopt;
    number = number * 10 + (digit - '0');
  }
  text.remove_prefix(digits);
  return number;
}

bool TakeMark(std::string_view& text, char mark) {
  if (!text.starts_with(mark)) return false;
  text.remove_prefix(1);
  return true;
}

// "a<mark>b<mark>c", each with the given number of digits.
struct Triple {
  int first = 0;
  int second = 0;
  int third = 0;
};
std::optional<Triple> TakeTriple(std::string_view& text, size_t first_digits, char mark) {
  const auto first = TakeNumber(text, first_digits);
  if (!first || !TakeMark(text, mark)) return std::nullopt;
  const auto second = TakeNumber(text, 2);
  if (!second || !TakeMark(text, mark)) return std::nullopt;
  const auto third = TakeNumber(text, 2);
  if (!third) return std::nullopt;
  return Triple{*first, *second, *third};
}

std::optional<uint32_t> TakeFraction(std::string_view& text) {
  if (!TakeMark(text, '.')) return 0;
  uint32_t nanoseconds = 0;
  uint32_t unit = 100'000'000;
  size_t digits = 0;
  while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') {
    nanoseconds += static_cast<uint32_t>(text[digits++] - '0') * unit;
    unit /= 10;  // 0 past the ninth digit
  }
  if (digits == 0) return std::nullopt;
  text.remove_prefix(digits);
  return nanoseconds;
}

// Seconds east of UTC.
std::optional<int64_t> TakeZone(std::string_view& text) {
  if (TakeMark(text, 'Z')) return 0;
  const int64_t sign = text.starts_with('-') ? -1 : 1;
  if (!TakeMark(text, '+') && !TakeMark(text, '-')) return std::nullopt;
  const auto hours = TakeNumber(text, 2);
  if (!hours || !TakeMark(text, ':')) return std::nullopt;
  const auto minutes = TakeNumber(text, 2);
  if (!minutes || *hours > 24 || *minutes > 60) return std::nullopt;
  return sign * (*hours * 3600 + *minutes * 60);
}

}  // namespace

std::string FormatModTime(ModTime time) {
  if (time.seconds < kFirstSecond || time.seconds > kLastSecond) return {};
  const std::chrono::sys_days day{std::chrono::floor<std::chrono::days>(std::chrono::seconds(time.seconds))};
  const std::chrono::year_month_day date(day);
  const int64_t second = time.seconds - day.time_since_epoch().count() * kSecondsPerDay;
  std::string text = fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", static_cast<int>(date.year()),
                                 static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), second / 3600,
                                 second / 60 % 60, second % 60);
  if (time.nanoseconds != 0) {
    text += fmt::format(".{:09}", time.nanoseconds);
    text.erase(text.find_last_not_of('0') + 1);
  }
  return text + "Z";
}

std::optional<ModTime> ParseModTime(std::string_view text) {
  const auto date = TakeTriple(text, 4, '-');
  if (!date || !TakeMark(text, 'T')) return std::nullopt;
  const auto clock = TakeTriple(text, 2, ':');
  if (!clock || clock->first > 23 || clock->second > 59 || clock->third > 59) return std::nullopt;
  const auto nanoseconds = TakeFraction(text);
  if (!nanoseconds) return std::nullopt;
  const auto zone = TakeZone(text);
  if (!zone || !text.empty()) return std::nullopt;
  const std::chrono::year_month_day day{std::chrono::year(date->first),
                                        std::chrono::month(static_cast<unsigned>(date->second)),
                                        std::chrono::day(static_cast<unsigned>(date->third))};
  if (!day.ok()) return std::nullopt;
  const int64_t days = std::chrono::sys_days(day).time_since_epoch().count();
  const int64_t second = clock->first * 3600 + clock->second * 60 + clock->third;
  return ModTime{days * kSecondsPerDay + second - *zone, *nanoseconds};
}

}  // namespace soci
