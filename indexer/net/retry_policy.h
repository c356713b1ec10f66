// Decides, as a pure function of what went wrong, whether an attempt is made again and after how long.
//
// Waits double from `first_wait` with jitter; a Retry-After is obeyed instead. Nothing is tried again when the wait
// would go past the budget: a reader that must fail fails now.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "indexer/base/result.h"

namespace soci {

struct RetryPolicy {
  std::chrono::milliseconds first_wait{200};
  std::chrono::milliseconds longest_wait{10'000};
  // A server that asks for more than this is taken at this (then at its next answer).
  std::chrono::milliseconds longest_retry_after{60'000};
  int attempts = 10;
};

struct FailedAttempt {
  int attempt = 1;      // the first is 1; attempts that brought new bytes do not count
  int http_status = 0;  // 0: no answer came
  // Why no (usable) answer came; used when http_status is 0.
  absl::StatusCode code = absl::StatusCode::kUnavailable;
  std::optional<std::chrono::milliseconds> retry_after = std::nullopt;
  std::chrono::milliseconds budget_left{0};
  uint64_t jitter_seed = 0;
};

// 408, 425, 429, 500, 502, 503, 504: the same request may well succeed later.
bool IsRetryableStatus(int http_status);

// The wait before the next attempt; none: give up.
std::optional<std::chrono::milliseconds> NextWait(const RetryPolicy& policy, const FailedAttempt& failed);

// Seconds, or an HTTP date compared with `now`; none if malformed. Never negative.
std::optional<std::chrono::milliseconds> ParseRetryAfter(std::string_view header,
                                                         std::chrono::system_clock::time_point now);

// "Sun, 06 Nov 1994 08:49:37 GMT" and the two older forms.
std::optional<std::chrono::system_clock::time_point> ParseHttpDate(std::string_view text);

}  // namespace soci
