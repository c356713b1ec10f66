// Who may have how many of the descriptors that the process may open: hundreds of mounts, connections, cached files.
//
// A lazy layer takes one descriptor, its FUSE connection's, for as long as it is mounted. Everything else is bounded,
// and gets less where the limit is low, so that 256 are enough for 200 layers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace soci {

struct DescriptorShares {
  size_t cached_files = 64;
  uint32_t demand_connections = 16;  // to one host
  uint32_t connections = 32;
  size_t mounts = 0;
};

// `wanted` says what is taken where there is no need to save. Pure.
DescriptorShares ShareDescriptors(uint64_t limit, const DescriptorShares& wanted);

// As many as the process may have without asking anybody: the soft limit becomes the hard one, which is returned.
uint64_t RaiseDescriptorLimit();

}  // namespace soci
