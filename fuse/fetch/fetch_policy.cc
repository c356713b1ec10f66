#include "fuse/fetch/fetch_policy.h"

#include <algorithm>

namespace soci {
namespace {

// Transfers of all classes but fill.
uint32_t Urgent(const HostLoad& host) {
  return host.running[ToIndex(FetchClass::kDemand)] + host.running[ToIndex(FetchClass::kReplay)] +
         host.running[ToIndex(FetchClass::kReadAhead)];
}

}  // namespace

std::optional<FetchClass> NextToStart(const HostLoad& host, const DaemonLoad& daemon, const HostBudget& budget) {
  constexpr size_t kDemand = ToIndex(FetchClass::kDemand);
  if (host.waiting[kDemand]) {
    if (host.running[kDemand] < budget.urgent) return FetchClass::kDemand;
    return std::nullopt;
  }
  if (daemon.backlog) return std::nullopt;

  const uint32_t urgent = Urgent(host);
  const uint32_t running = urgent + host.running[ToIndex(FetchClass::kFill)] + host.guests;
  if (daemon.demand_waits && urgent - host.running[kDemand] >= kBesideDemand) return std::nullopt;
  for (FetchClass fetch_class : {FetchClass::kReplay, FetchClass::kReadAhead, FetchClass::kFill}) {
    if (!host.waiting[ToIndex(fetch_class)]) continue;
    const bool is_fill = fetch_class == FetchClass::kFill;
    if (is_fill && host.pull_waits) return std::nullopt;
    const bool is_replay = fetch_class == FetchClass::kReplay;
    if (is_replay && host.pull_waits && host.running[ToIndex(fetch_class)] >= kBesideDemand) continue;
    const uint32_t most = daemon.demand_waits ? budget.fill_beside_demand + host.running[kDemand] : budget.total;
    if (is_replay && host.running[ToIndex(fetch_class)] >= budget.replay) return std::nullopt;
    const bool room = is_fill ? running < std::min(most, budget.total) : urgent < budget.urgent;
    return room ? std::optional(fetch_class) : std::nullopt;
  }
  return std::nullopt;
}

bool MayGuestStart(const HostLoad& host, const DaemonLoad& daemon, const HostBudget& budget) {
  if (daemon.demand_waits || host.waiting[ToIndex(FetchClass::kDemand)]) return false;
  if (host.waiting[ToIndex(FetchClass::kReadAhead)]) return false;
  const uint32_t running = Urgent(host) + host.running[ToIndex(FetchClass::kFill)] + host.guests;
  return running < budget.total && host.guests < budget.urgent;
}

bool IsHeldBack(const HostLoad& host, const DaemonLoad& daemon, const HostBudget& budget) {
  if (daemon.backlog || daemon.demand_waits || !host.waiting[ToIndex(FetchClass::kFill)]) return false;
  if (host.pull_waits) return false;
  return Urgent(host) + host.running[ToIndex(FetchClass::kFill)] >= budget.total;
}

bool IsReplayHeldBack(const HostLoad& host, const DaemonLoad& daemon, const HostBudget& budget) {
  constexpr size_t kReplay = ToIndex(FetchClass::kReplay);
  if (daemon.backlog || daemon.demand_waits || host.pull_waits || !host.waiting[kReplay]) return false;
  return host.running[kReplay] >= budget.replay;
}

bool MustPause(FetchClass fetch_class, const DaemonLoad& daemon, bool pull_waits, uint32_t beside,
               uint32_t fill_beside_demand) {
  if (fetch_class == FetchClass::kDemand) return false;
  if (daemon.backlog) return true;
  if (fetch_class == FetchClass::kFill) return pull_waits || (daemon.demand_waits && beside >= fill_beside_demand);
  const bool behind_pull = pull_waits && fetch_class == FetchClass::kReplay;
  return (daemon.demand_waits || behind_pull) && beside >= kBesideDemand;
}

uint32_t FillBesideDemand(double link_rate, double connection_rate) {
  // Two that share what one could have look like exactly twice.
  return connection_rate > 0 && link_rate > 2.2 * connection_rate ? 1 : 0;
}

bool IsSoonerAlone(const Approach& approach, uint64_t round_trip_bytes) {
  // What does not flow yet has its own first byte to wait for.
  const uint64_t round_trip = approach.flowing ? round_trip_bytes : 0;
  return approach.ahead > approach.span + std::max(round_trip, approach.span);
}

bool IsWorthRetrying(const Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kDeadlineExceeded:
    case absl::StatusCode::kAborted:
    case absl::StatusCode::kResourceExhausted:
    case absl::StatusCode::kUnknown:
      return true;
    default:
      return false;
  }
}

std::chrono::milliseconds RetryDelay(int failures, bool someone_waits) {
  std::chrono::milliseconds first(someone_waits ? 100 : 1000);
  std::chrono::milliseconds last(someone_waits ? 2'000 : 60'000);
  int doublings = std::clamp(failures - 1, 0, 10);
  return std::min(first * (1 << doublings), last);
}

}  // namespace soci
