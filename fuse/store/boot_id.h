// Which run of the kernel this is. What a process wrote is there for the next one of the same run, synced or not; after
// another boot it may be or not.
#pragma once

#include <array>
#include <cstddef>

namespace soci {

using BootId = std::array<std::byte, 16>;

// The kernel's own; one that nobody else has if it cannot be read, so that nothing is taken on trust.
BootId ThisBoot();

}  // namespace soci
