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
  uint32_t replay = 16;  // of those
  uint32_t total = 32;   // with fill
  // How many lower transfers may run beside a waiting demand for fill to be one of them.
  uint32_t fill_beside_demand = 0;
};

// What one host's layers want and have.
struct HostLoad {
  std::array<bool, kFetchClassCount> waiting{};
  std::array<uint32_t, kFetchClassCount> running{};
  uint32_t guests = 0;      // transfers of guests
  bool pull_waits = false;  // for a guest's layer, which is being downloaded or unpacked
};

// What all hosts share: the link, and the memory.
struct DaemonLoad {
  bool demand_waits = false;  // somewhere a demanded span is wanted from the network and not here yet
  bool backlog = false;       // more has been fetched than can be decoded and written now
};

// Replay and read-ahead that go on while demand waits: they use what one demand leaves of a link whose single
// connections are slower than the whole, and its round trips; and a program that catches up with its read-ahead must
// not stop it. As much replay goes on while a pull waits: the container whose program it is for is not there yet.
inline constexpr uint32_t kBesideDemand = 2;

// The class of which a range may start now, if any. Demand starts whatever else is running, up to the urgent budget;
// the others only when nothing is backed up, no class before them waits at this host, and no demand waits anywhere, but
// for kBesideDemand and fill_beside_demand. No fill as long as a pull waits: it would take cores and disk too, and the
// program starts when the pull is over.
std::optional<FetchClass> NextToStart(const HostLoad& host, const DaemonLoad& daemon, const HostBudget& budget);

// Whether a guest may start a transfer: no read-ahead waits at its host, no demand anywhere, and guests leave the
// urgent part of the budget free.
bool MayGuestStart(const HostLoad& host, const DaemonLoad& daemon, const HostBudget& budget);

// Whether fill would go faster with more connections, or not: nothing else holds it back.
bool IsHeldBack(const HostLoad& host, const DaemonLoad& daemon, const HostBudget& budget);

// The same of replay.
bool IsReplayHeldBack(const HostLoad& host, const DaemonLoad& daemon, const HostBudget& budget);

// Whether a running transfer must stand still. `pull_waits`: at its host. `beside`: how many lower transfers go on
// already, those of the more urgent classes first.
bool MustPause(FetchClass fetch_class, const DaemonLoad& daemon, bool pull_waits, uint32_t beside,
               uint32_t fill_beside_demand = 0);

// HostBudget::fill_beside_demand, when `link_rate` is the most that all connections brought and `connection_rate` what
// a single one does (bytes per second; 0: not known): one, where two connections do not take anything from each other.
uint32_t FillBesideDemand(double link_rate, double connection_rate);

// How far a running transfer is from a span that it brings; compressed bytes.
struct Approach {
  uint64_t ahead = 0;    // what comes before the span
  uint64_t span = 0;     // the span itself
  bool flowing = false;  // the transfer's first byte is here
};

// Whether a span that someone waits for is asked for again, on a connection of its own, although a transfer is on its
// way to it: when it then comes sooner by more than a round trip (`round_trip_bytes` at the rate of a connection), and
// by more than the span takes, whose bytes come twice. For one neighbour ahead that is never so: a range of two spans
// was asked for one and a half times whenever its reader came before its first byte.
bool IsSoonerAlone(const Approach& approach, uint64_t round_trip_bytes);

// Whether the same request may succeed later.
bool IsWorthRetrying(const Status& status);

// How long to wait before try number `failures` + 1. Someone waits: 100 ms doubling to 2 s. Fill: 1 s doubling to 60 s.
// Nothing below waits on its own account (FetchContext::asker_retries), so this is all the wait there is.
std::chrono::milliseconds RetryDelay(int failures, bool someone_waits);

}  // namespace soci
