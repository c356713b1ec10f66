// The decisions of fetching, apart from everything that acts on them: what may start, what must pause, what is tried
// again and when. Pure.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "indexer/base/fetch_context.h"
#include "indexer/base/result.h"

namespace soci {

inline constexpr size_t kFetchClassCount = 4;
constexpr size_t ToIndex(FetchClass fetch_class) { return static_cast<size_t>(fetch_class); }

// Connections to one registry host.
struct HostBudget {
  uint32_t urgent = 16;  // demand, and apart from it replay and read-ahead
  uint32_t total = 32;   // with fill
};

// What one host's layers want and have.
struct HostLoad {
  std::array<bool, kFetchClassCount> waiting{};
  std::array<uint32_t, kFetchClassCount> running{};
};

// What all hosts share: the link, and the memory.
struct DaemonLoad {
  bool demand_waits = false;  // somewhere a demanded span is wanted from the network and not here yet
  bool backlog = false;       // more has been fetched than can be decoded and written now
};

// Replay and read-ahead that go on while demand waits: they use what one demand leaves of a link whose single
// connections are slower than the whole, and its round trips; and a program that catches up with its read-ahead must
// not stop it.
inline constexpr uint32_t kBesideDemand = 2;

// The class of which a range may start now, if any. Demand starts whatever else is running, up to the urgent budget;
// the others only when nothing is backed up, no class before them waits at this host, and no demand waits anywhere, but
// for kBesideDemand.
std::optional<FetchClass> NextToStart(const HostLoad& host, const DaemonLoad& daemon, const HostBudget& budget);

// Whether a running transfer must stand still. `beside`: how many of replay and read-ahead go on already.
bool MustPause(FetchClass fetch_class, const DaemonLoad& daemon, uint32_t beside);

// Whether the same request may succeed later.
bool IsWorthRetrying(const Status& status);

// How long to wait before try number `failures` + 1. Someone waits: 100 ms doubling to 2 s. Fill: 1 s doubling to 60 s.
std::chrono::milliseconds RetryDelay(int failures, bool someone_waits);

}  // namespace soci
