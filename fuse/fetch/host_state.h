// What is known of one registry host's connections. Guarded by the scheduler's mutex; stays where it is.
#pragma once

#include <atomic>
#include <cstdint>

#include "fuse/fetch/connection_governor.h"
#include "fuse/fetch/hedge_budget.h"
#include "fuse/fetch/link_estimate.h"
#include "fuse/fetch/rate_peak.h"

namespace soci {

struct HostState {
  HostState(uint64_t round_trip_bytes, uint32_t most_connections, uint32_t most_replays)
      : link(round_trip_bytes),
        connections(most_connections),
        replays(most_replays, ConnectionGovernor::Start::kInAHurry) {}

  LinkEstimate link;
  ConnectionGovernor connections;  // of all
  ConnectionGovernor replays;
  RatePeak peak;
  HedgeBudget hedges;
  // Since noted_at their limit has been what holds transfers back.
  bool saturated = false;
  bool replay_saturated = false;
  Clock::TimePoint noted_at{};
  uint64_t noted_bytes = 0;
  std::atomic<uint64_t> received{0};  // any thread
};

}  // namespace soci
