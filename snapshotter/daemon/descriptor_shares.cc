#include "snapshotter/daemon/descriptor_shares.h"

#include <sys/resource.h>

#include <algorithm>

namespace soci {
namespace {

// Sockets, databases, locks, epoll sets; and what is opened for a moment by each thread at work. Measured: 28 when
// idle.
constexpr uint64_t kOthers = 40;
constexpr uint64_t kLayers = 200;  // kept free for mounts before anything else gets more than its least
constexpr uint64_t kLeastShare = 8;
constexpr uint64_t kDefaultLimit = 1024;

}  // namespace

DescriptorShares ShareDescriptors(uint64_t limit, const DescriptorShares& wanted) {
  const uint64_t reserved = kOthers + kLayers;
  const uint64_t each = std::max(kLeastShare, limit > reserved ? (limit - reserved) / 2 : 0);
  DescriptorShares shares;
  shares.cached_files = static_cast<size_t>(std::min<uint64_t>(wanted.cached_files, each));
  shares.connections = static_cast<uint32_t>(std::min<uint64_t>(wanted.connections, each));
  shares.demand_connections = std::min(wanted.demand_connections, std::max<uint32_t>(1, shares.connections / 2));
  const uint64_t taken = kOthers + shares.cached_files + shares.connections;
  shares.mounts = static_cast<size_t>(limit > taken ? limit - taken : 1);
  return shares;
}

uint64_t RaiseDescriptorLimit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return kDefaultLimit;
  const rlimit raised{limit.rlim_max, limit.rlim_max};
  if (::setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  return limit.rlim_cur;
}

}  // namespace soci
