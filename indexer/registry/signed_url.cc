#include "indexer/registry/signed_url.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <string>
#include <string_view>

#include "indexer/net/text.h"

namespace soci {
namespace {

using std::chrono::seconds;
using WallTime = std::chrono::system_clock::time_point;

constexpr uint64_t kLongest = 30 * 24 * 3600;

std::optional<std::string> One(const Url& url, std::string_view name) {
  std::vector<std::string> values = url.QueryValues(name);
  if (values.empty()) return std::nullopt;
  return values.front();
}

// "20260131T235959Z" or "2026-01-31T23:59:59Z".
std::optional<WallTime> ParseStamp(const std::string& text) {
  std::tm parts{};
  char zone = 0;
  int count = std::sscanf(text.c_str(), "%4d%2d%2dT%2d%2d%2d%c", &parts.tm_year, &parts.tm_mon, &parts.tm_mday,
                          &parts.tm_hour, &parts.tm_min, &parts.tm_sec, &zone);
  if (count != 7) {
    count = std::sscanf(text.c_str(), "%4d-%2d-%2dT%2d:%2d:%2d%c", &parts.tm_year, &parts.tm_mon, &parts.tm_mday,
                        &parts.tm_hour, &parts.tm_min, &parts.tm_sec, &zone);
  }
  if (count != 7 || zone != 'Z' || parts.tm_year < 1970 || parts.tm_year > 2200 || parts.tm_mon < 1 ||
      parts.tm_mon > 12)
    return std::nullopt;
  parts.tm_year -= 1900;
  parts.tm_mon -= 1;
  return std::chrono::system_clock::from_time_t(::timegm(&parts));
}

seconds Left(WallTime end, WallTime now) {
  auto left = std::chrono::duration_cast<seconds>(end - now);
  return std::clamp(left, seconds(0), seconds(kLongest));
}

}  // namespace

std::optional<seconds> SignedUrlLifetime(const Url& url, std::optional<WallTime> server_now, WallTime local_now) {
  WallTime now = server_now.value_or(local_now);
  for (const char* prefix : {"X-Amz-", "X-Goog-"}) {
    std::optional<std::string> lifetime = One(url, std::string(prefix) + "Expires");
    std::optional<uint64_t> count = lifetime ? ParseDecimal(*lifetime) : std::nullopt;
    if (!count) continue;
    seconds whole(std::min(*count, kLongest));
    std::optional<std::string> stamp = One(url, std::string(prefix) + "Date");
    std::optional<WallTime> signed_at = stamp ? ParseStamp(*stamp) : std::nullopt;
    // Signed some time ago (a cache between), or just now by a clock that runs ahead.
    if (!signed_at) return whole;
    return std::min(whole, Left(*signed_at + whole, now));
  }
  if (std::optional<std::string> end = One(url, "Expires")) {
    if (std::optional<uint64_t> unix_time = ParseDecimal(*end); unix_time && *unix_time < 1u << 31) {
      return Left(std::chrono::system_clock::from_time_t(static_cast<time_t>(*unix_time)), now);
    }
  }
  if (std::optional<std::string> end = One(url, "se")) {
    if (std::optional<WallTime> stamp = ParseStamp(*end)) return Left(*stamp, now);
  }
  return std::nullopt;
}

}  // namespace soci
