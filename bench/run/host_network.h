// Networks for hosts that share one machine: each host has a network and a mount namespace of its own, and one cable,
// to a hub where the link listens. The hub is a namespace too: no interface, route or firewall of the machine takes
// part.
//
// Nothing of it has a name or a place: namespaces and cables go with the last thread, process or descriptor in them, so
// also after SIGKILL. Needs root and iproute2's `ip`. Failures throw std::runtime_error.
#pragma once

#include <atomic>
#include <string>

#include "indexer/base/unique_fd.h"

namespace soci::bench {

// A network namespace with nothing but one address in it.
class Hub {
 public:
  // As hosts see it; of the block that RFC 2544 keeps for benchmarks.
  static constexpr char kAddress[] = "198.18.0.1";

  Hub();
  int fd() const { return fd_.get(); }

  // Moves the calling thread, and all that it starts afterwards, to a host of its own that can reach the hub and
  // nothing else.
  void EnterAsHost() const;

 private:
  UniqueFd fd_;
  mutable std::atomic<int> hosts_{0};  // so far: the kernel takes its time to let go of a host's cable and address
};

// Moves the calling thread, and all that it starts afterwards, to a mount namespace of its own. What others have
// mounted in temporary places is let go there, lest it outlive them.
void EnterOwnMounts();

}  // namespace soci::bench
