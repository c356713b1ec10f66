// What a limited disk really takes and gives: a file written to it and synced, and read back when nothing of it is in
// memory any more.
#pragma once

#include <cstdint>

namespace soci::bench {

struct DiskRates {
  double written = 0, read = 0;  // bytes per second
};

// Takes about 6 seconds. Blocks; any thread. Throws std::runtime_error.
DiskRates MeasureDisk(uint64_t bytes_per_second);

}  // namespace soci::bench
