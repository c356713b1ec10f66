// What fetching has done since the process began, for metrics: counted where it happens, read by whoever asks. Any
// thread; relaxed, as no figure is tied to another.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuse/fetch/fetch_policy.h"
#include "indexer/base/result.h"

namespace soci {

// Why a span did not come, or did not count.
enum class FetchFault : uint8_t {
  kNetwork,      // refused, cut, or a server's passing trouble: tried again
  kTimeout,      // no answer in time
  kRefused,      // credentials, or a blob that is not there
  kDigest,       // the bytes were not those of the index
  kFalseIndex,   // the index does not tell the truth about the layer
  kDisk,         // could not be written
  kAnsweredLate  // a reader's time was over
};
inline constexpr size_t kFetchFaultCount = 7;

constexpr std::string_view ToString(FetchFault fault) {
  constexpr std::array<std::string_view, kFetchFaultCount> kNames = {"network",     "timeout", "refused", "digest",
                                                                     "false_index", "disk",    "late"};
  return kNames[static_cast<size_t>(fault)];
}

// Of an error that the network brought.
FetchFault FaultOf(const Status& status);

struct FetchCounters {
  using Counter = std::atomic<uint64_t>;

  std::array<Counter, kFetchClassCount> bytes{};  // compressed, of whole spans, by the class they were wanted for
  std::array<Counter, kFetchClassCount> spans{};
  Counter demand_misses{};  // spans that a reader found neither on the disk nor on their way
  Counter demand_joins{};   // ... that were on their way already
  Counter overtaken{};      // ... asked for again, as what was to bring them was far away
  Counter hedges{};         // requests made a second time as the first was slow
  Counter bytes_twice{};    // compressed, of whole spans that had come before
  std::array<Counter, kFetchFaultCount> faults{};

  void Arrived(FetchClass fetch_class, uint64_t size) {
    bytes[ToIndex(fetch_class)].fetch_add(size, std::memory_order_relaxed);
    spans[ToIndex(fetch_class)].fetch_add(1, std::memory_order_relaxed);
  }
  void Failed(FetchFault fault) { faults[static_cast<size_t>(fault)].fetch_add(1, std::memory_order_relaxed); }
};

}  // namespace soci
