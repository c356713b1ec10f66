// Reads the units of soci-link's command line: "30ms", "1.5s", "90MB/s", "125MiB/s". Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "indexer/base/result.h"

namespace soci {

// kInvalidArgument for anything but a number and ms or s.
Result<std::chrono::milliseconds> ParseDelay(std::string_view text);
// Bytes per second: a number and B/s, kB/s, MB/s, GB/s, KiB/s, MiB/s or GiB/s; "0" is no limit.
Result<uint64_t> ParseRate(std::string_view text);

}  // namespace soci
