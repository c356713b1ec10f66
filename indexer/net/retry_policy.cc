#include "indexer/net/retry_policy.h"

#include <curl/curl.h>

#include <algorithm>
#include <string>

#include "indexer/net/text.h"

namespace soci {
namespace {

using std::chrono::milliseconds;

// splitmix64: enough to spread waits, and the same for the same seed.
uint64_t Mix(uint64_t seed) {
  seed += 0x9e3779b97f4a7c15u;
  seed = (seed ^ (seed >> 30)) * 0xbf58476d1ce4e5b9u;
  seed = (seed ^ (seed >> 27)) * 0x94d049bb133111ebu;
  return seed ^ (seed >> 31);
}

bool IsRetryable(const FailedAttempt& failed) {
  if (failed.http_status != 0) return IsRetryableStatus(failed.http_status);
  return failed.code == absl::StatusCode::kUnavailable;
}

// Between half of the doubled wait and all of it.
milliseconds Backoff(const RetryPolicy& policy, const FailedAttempt& failed) {
  int doublings = std::clamp(failed.attempt - 1, 0, 20);
  milliseconds full = std::min(policy.longest_wait, policy.first_wait * (int64_t{1} << doublings));
  int64_t half = full.count() / 2;
  uint64_t random = Mix(failed.jitter_seed * 1000003u + static_cast<uint64_t>(failed.attempt));
  return milliseconds(half + static_cast<int64_t>(random % static_cast<uint64_t>(full.count() - half + 1)));
}

}  // namespace

bool IsRetryableStatus(int http_status) {
  switch (http_status) {
    case 408:
    case 425:
    case 429:
    case 500:
    case 502:
    case 503:
    case 504:
      return true;
    default:
      return false;
  }
}

std::optional<milliseconds> NextWait(const RetryPolicy& policy, const FailedAttempt& failed) {
  if (!IsRetryable(failed) || failed.attempt >= policy.attempts) return std::nullopt;
  milliseconds wait = Backoff(policy, failed);
  if (failed.retry_after) {
    // A little more than asked, so that many clients do not come back in the same instant.
    milliseconds asked = std::min(*failed.retry_after, policy.longest_retry_after);
    FailedAttempt first = failed;
    first.attempt = 1;
    wait = asked + Backoff(policy, first) / 2;
  }
  if (wait >= failed.budget_left) return std::nullopt;
  return wait;
}

std::optional<milliseconds> ParseRetryAfter(std::string_view header, std::chrono::system_clock::time_point now) {
  header = Trim(header);
  if (std::optional<uint64_t> seconds = ParseDecimal(header)) {
    return milliseconds(static_cast<int64_t>(std::min<uint64_t>(*seconds, 86400)) * 1000);
  }
  std::optional<std::chrono::system_clock::time_point> date = ParseHttpDate(header);
  if (!date) return std::nullopt;
  auto wait = std::chrono::duration_cast<milliseconds>(*date - now);
  return std::clamp(wait, milliseconds(0), milliseconds(86400'000));
}

std::optional<std::chrono::system_clock::time_point> ParseHttpDate(std::string_view text) {
  if (text.empty() || text.size() > 64) return std::nullopt;
  time_t seconds = curl_getdate(std::string(text).c_str(), nullptr);
  // Dates before 1970 or beyond 2200 do not fit the clock and mean nothing here.
  if (seconds < 0 || seconds > 7'258'118'400) return std::nullopt;
  return std::chrono::system_clock::from_time_t(seconds);
}

}  // namespace soci
