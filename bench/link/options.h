// Reads links as people write them: "30ms", "1.5s", "90MB/s", "125MiB/s", a whole link or a profile's letter. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "bench/link/link.h"
#include "indexer/base/result.h"

namespace soci {

// kInvalidArgument for anything but a number and ms or s.
Result<std::chrono::milliseconds> ParseDelay(std::string_view text);
// Bytes per second: a number and B/s, kB/s, MB/s, GB/s, KiB/s, MiB/s or GiB/s; "0" is no limit.
Result<uint64_t> ParseRate(std::string_view text);

// "DELAY,CONNECTION_RATE,TOTAL_RATE", or the letter of a profile: A (30ms,90MB/s,125MB/s: a registry in the region), B
// (100ms,25MB/s,60MB/s: a far one), C (10ms,90MB/s,400MB/s: a link that leaves the processor as the limit), D (A with
// disk=125MB/s). After it may come p99=TIME, the 99th percentile of an answer's delay; redirect, of blobs to a second
// port; token=TIME, more delay of what is not for /v2/; faults of blob answers, 503=, reset=, stall= and flip=SHARE
// ("0.01" or "1%") with stall-for=TIME; disk=RATE, what the disk behind it reads and writes; and seed=NUMBER of all
// that is drawn. No upstream is set.
Result<LinkOptions> ParseLink(std::string_view text);
// The same in words, for reports.
std::string LinkText(const LinkOptions& link);

}  // namespace soci
