// All flights of one layer, and the queues of those that want a transfer: which span is next, and which neighbours go
// with it in one range.
//
// Guarded by the scheduler's mutex. References to flights stay valid until Erase.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <vector>

#include "fuse/fetch/fetch_policy.h"
#include "fuse/fetch/flight.h"
#include "indexer/table/layer_table.h"

namespace soci {

class FlightTable {
 public:
  explicit FlightTable(const LayerTable& table) : table_(table) {}

  Flight* Find(SpanId span);
  // A new one in the given state; none exists yet.
  Flight& Add(SpanId span, FetchClass fetch_class, FlightOrder order, Flight::State state);
  void Erase(SpanId span);
  const std::map<SpanId, Flight>& all() const { return flights_; }
  std::map<SpanId, Flight>& all() { return flights_; }

  // State and class change only here, so that the queues agree.
  void SetState(SpanId span, Flight::State state);
  // To a more urgent class, and to where it is due sooner; a less urgent class or a later place changes nothing.
  void Raise(SpanId span, FetchClass fetch_class, int64_t due = FlightOrder::kNotDue);

  bool HasQueued(FetchClass fetch_class) const { return !queued_[ToIndex(fetch_class)].empty(); }
  // The place of the first queued flight of a class; there is one.
  FlightOrder FirstQueued(FetchClass fetch_class) const { return queued_[ToIndex(fetch_class)].begin()->first; }

  // The first queued span of the class and the queued neighbours after it that are due with it, at most `limit`
  // compressed bytes (but at least one span). They are kFetching afterwards.
  std::vector<SpanId> TakeRange(FetchClass fetch_class, uint64_t limit);

  // The compressed bytes of neighbouring spans, for a RangeAssembler.
  std::vector<CompressedRange> CompressedRanges(const std::vector<SpanId>& spans) const;
  // Whether `next` is the span after `last` and can go out in the same range, begun at `begin`.
  bool Extends(SpanId last, SpanId next, uint64_t begin, uint64_t limit) const;

 private:
  void Enqueue(SpanId span, const Flight& flight);
  void Dequeue(const Flight& flight);

  const LayerTable& table_;
  std::map<SpanId, Flight> flights_;
  std::array<std::map<FlightOrder, SpanId>, kFetchClassCount> queued_;
};

}  // namespace soci
