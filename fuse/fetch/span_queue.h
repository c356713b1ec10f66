// Spans that wait for a thread: the most urgent class first, within it in the order they came.
//
// Guarded by the scheduler's mutex. Short by construction (what is in it is bounded in bytes), so it is searched.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <vector>

#include "indexer/base/fetch_context.h"
#include "indexer/base/ranges.h"

namespace soci {

class SpanFetcher;

struct SpanJob {
  SpanFetcher* fetcher = nullptr;
  SpanId span{};
  FetchClass fetch_class = FetchClass::kFill;
  uint64_t compressed = 0;  // bytes held while it waits
  uint64_t decoded = 0;     // bytes of the span
};

class SpanQueue {
 public:
  void Push(const SpanJob& job);
  // The most urgent, then oldest, of those that are allowed.
  std::optional<SpanJob> Take(const std::function<bool(const SpanJob&)>& allowed);
  // The least urgent, then newest, if it is less urgent than demand.
  std::optional<SpanJob> TakeLeastUrgent();
  // All of one fetcher that match.
  std::vector<SpanJob> Remove(const SpanFetcher* fetcher, const std::function<bool(const SpanJob&)>& matches);
  void Raise(const SpanFetcher* fetcher, SpanId span, FetchClass fetch_class);

  uint64_t compressed_bytes() const { return compressed_bytes_; }
  bool empty() const { return jobs_.empty(); }

 private:
  SpanJob TakeAt(std::list<SpanJob>::iterator place);

  std::list<SpanJob> jobs_;
  uint64_t compressed_bytes_ = 0;
};

}  // namespace soci
