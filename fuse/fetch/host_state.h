// What is known of one registry host's connections. Guarded by the scheduler's mutex.
#pragma once

#include "fuse/fetch/link_estimate.h"

namespace soci {

struct HostState {
  explicit HostState(uint64_t round_trip_bytes) : link(round_trip_bytes) {}

  LinkEstimate link;
};

}  // namespace soci
