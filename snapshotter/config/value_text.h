// Values as people write them: "8MiB", "30s", "true". Reading is strict: a whole number, then a unit, nothing else.
// Pure; any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "indexer/base/result.h"

namespace soci {

// "0", "4096", "64KiB", "8MiB", "2GiB", "1TiB".
Result<uint64_t> ParseByteSize(std::string_view text);
std::string ByteSizeText(uint64_t bytes);

// "0", "250ms", "30s", "5m", "2h".
Result<std::chrono::milliseconds> ParseDuration(std::string_view text);
std::string DurationText(std::chrono::milliseconds duration);

Result<uint32_t> ParseNumber(std::string_view text);
Result<bool> ParseFlag(std::string_view text);

}  // namespace soci
