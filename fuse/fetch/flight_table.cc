#include "fuse/fetch/flight_table.h"

#include <algorithm>

namespace soci {
namespace {

// Only replays know what is due.
FlightOrder PlaceOf(const Flight& flight) {
  const bool has_due = flight.fetch_class == FetchClass::kReplay;
  return {has_due ? flight.order.due : FlightOrder::kNotDue, flight.order.order};
}

}  // namespace

Flight* FlightTable::Find(SpanId span) {
  auto found = flights_.find(span);
  return found == flights_.end() ? nullptr : &found->second;
}

Flight& FlightTable::Add(SpanId span, FetchClass fetch_class, FlightOrder order, Flight::State state) {
  Flight& flight = flights_[span];
  flight.fetch_class = fetch_class;
  flight.order = order;
  flight.state = state;
  if (state == Flight::State::kQueued) Enqueue(span, flight);
  return flight;
}

void FlightTable::Erase(SpanId span) {
  auto found = flights_.find(span);
  if (found == flights_.end()) return;
  Dequeue(found->second);
  flights_.erase(found);
}

void FlightTable::SetState(SpanId span, Flight::State state) {
  Flight& flight = flights_.at(span);
  Dequeue(flight);
  flight.state = state;
  if (state != Flight::State::kFetching) flight.carriers.clear();
  if (state == Flight::State::kQueued) Enqueue(span, flight);
}

void FlightTable::Raise(SpanId span, FetchClass fetch_class, int64_t due) {
  Flight& flight = flights_.at(span);
  if (fetch_class >= flight.fetch_class && due >= flight.order.due) return;
  Dequeue(flight);
  flight.fetch_class = std::min(flight.fetch_class, fetch_class);
  flight.order.due = std::min(flight.order.due, due);
  if (flight.state == Flight::State::kQueued) Enqueue(span, flight);
}

std::vector<SpanId> FlightTable::TakeRange(FetchClass fetch_class, uint64_t limit) {
  SpanId span = queued_[ToIndex(fetch_class)].begin()->second;
  std::vector<SpanId> spans = {span};
  const uint64_t begin = table_.Extent(span).compressed.begin;
  const int64_t due = queued_[ToIndex(fetch_class)].begin()->first.due;
  for (auto next = std::next(flights_.find(span)); next != flights_.end(); ++next) {
    const Flight& flight = next->second;
    if (flight.state != Flight::State::kQueued || flight.fetch_class != fetch_class) break;
    if (PlaceOf(flight).due != due) break;
    if (!Extends(spans.back(), next->first, begin, limit)) break;
    spans.push_back(next->first);
  }
  for (SpanId taken : spans) SetState(taken, Flight::State::kFetching);
  return spans;
}

std::vector<CompressedRange> FlightTable::CompressedRanges(const std::vector<SpanId>& spans) const {
  std::vector<CompressedRange> ranges;
  ranges.reserve(spans.size());
  for (SpanId span : spans) ranges.push_back(table_.Extent(span).compressed);
  return ranges;
}

bool FlightTable::Extends(SpanId last, SpanId next, uint64_t begin, uint64_t limit) const {
  if (next != Next(last)) return false;
  CompressedRange range = table_.Extent(next).compressed;
  return range.end - begin <= limit && RangeAssembler::Joins(table_.Extent(last).compressed, range);
}

void FlightTable::Enqueue(SpanId span, const Flight& flight) {
  queued_[ToIndex(flight.fetch_class)].emplace(PlaceOf(flight), span);
}

void FlightTable::Dequeue(const Flight& flight) {
  if (flight.state == Flight::State::kQueued) queued_[ToIndex(flight.fetch_class)].erase(PlaceOf(flight));
}

}  // namespace soci
