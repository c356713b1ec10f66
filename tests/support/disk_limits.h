// Limits of block devices, on the root group of cgroup v1's blkio controller: what the kernel writes by itself counts
// there. They outlive who set them, so whoever clears up after a program lifts them.
#pragma once

#include <cstdint>
#include <string>

namespace soci::test {

// Bytes per second for reads, and as many for writes; 0 lifts the limit. `device` is "MAJOR:MINOR". The controller need
// not be mounted anywhere. False, with errno, if that cannot be set.
bool LimitDevice(const std::string& device, uint64_t bytes_per_second);

// Lifts those of loop devices that are mounted on the folder or below it.
void LiftLimitsBelow(const std::string& folder);

}  // namespace soci::test
