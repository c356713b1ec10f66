#include "snapshotter/daemon/metric_samples.h"

#include <map>
#include <string>
#include <utility>

namespace soci {
namespace {

using Kind = MetricSample::Kind;

std::string NameOf(FetchClass fetch_class) {
  switch (fetch_class) {
    case FetchClass::kDemand:
      return "demand";
    case FetchClass::kReplay:
      return "replay";
    case FetchClass::kReadAhead:
      return "read_ahead";
    case FetchClass::kFill:
      return "fill";
  }
  return "";
}

void AddLayers(const std::vector<LayerReport>& layers, std::vector<MetricSample>& samples) {
  std::map<LayerState, double> states;
  double present = 0;
  double spans = 0;
  for (const LayerReport& layer : layers) {
    ++states[layer.state];
    present += layer.spans_present;
    spans += layer.spans;
  }
  for (LayerState state : {LayerState::kUnpacking, LayerState::kLazy, LayerState::kFilling, LayerState::kComplete,
                           LayerState::kSealed, LayerState::kCondemned}) {
    samples.push_back({"soci_layers",
                       "Layers that are provided",
                       Kind::kGauge,
                       {{"state", std::string(ToString(state))}},
                       states[state]});
  }
  samples.push_back({"soci_spans", "Spans of provided layers", Kind::kGauge, {}, spans});
  samples.push_back({"soci_spans_present", "Spans of provided layers that are on disk", Kind::kGauge, {}, present});
}

void AddSearches(const ImageSessions::Counts& searches, std::vector<MetricSample>& samples) {
  for (const auto& [result, count] :
       {std::pair{"found", searches.found}, std::pair{"none", searches.no_index},
        std::pair{"not_looked_for", searches.not_looked_for}, std::pair{"failed", searches.failed}}) {
    samples.push_back({"soci_index_searches_total",
                       "Searches for an image's SOCI index, by what came of them",
                       Kind::kCounter,
                       {{"result", result}},
                       static_cast<double>(count)});
  }
}

void AddFetched(const FetchCounters& fetched, std::vector<MetricSample>& samples) {
  const auto add = [&](const char* name, const char* help, std::map<std::string, std::string> labels,
                       const FetchCounters::Counter& counter) {
    samples.push_back({name, help, Kind::kCounter, std::move(labels), static_cast<double>(counter.load())});
  };
  for (size_t i = 0; i < kFetchClassCount; ++i) {
    const std::string name = NameOf(static_cast<FetchClass>(i));
    add("soci_fetched_bytes_total", "Compressed bytes of spans that came, by why", {{"class", name}}, fetched.bytes[i]);
  }
  for (size_t i = 0; i < kFetchClassCount; ++i) {
    const std::string name = NameOf(static_cast<FetchClass>(i));
    add("soci_fetched_spans_total", "Spans that came, by why", {{"class", name}}, fetched.spans[i]);
  }
  add("soci_demand_misses_total", "Spans that a reader had to wait for from the start", {}, fetched.demand_misses);
  add("soci_demand_joins_total", "Spans that a reader wanted and that were on their way", {}, fetched.demand_joins);
  add("soci_overtaken_spans_total", "Of those, asked for again as they would have come late", {}, fetched.overtaken);
  add("soci_hedged_requests_total", "Requests made a second time as the first was slow", {}, fetched.hedges);
  add("soci_fetched_twice_bytes_total", "Compressed bytes that came and were here already", {}, fetched.bytes_twice);
  for (size_t i = 0; i < kFetchFaultCount; ++i) {
    add("soci_fetch_errors_total", "What went wrong while fetching, by kind",
        {{"kind", std::string(ToString(static_cast<FetchFault>(i)))}}, fetched.faults[i]);
  }
}

void AddUnpacks(const LayerUnpacks::Counts& unpacks, std::vector<MetricSample>& samples) {
  for (const auto& [result, count] : {std::pair{"done", unpacks.done}, std::pair{"failed", unpacks.failed},
                                      std::pair{"cancelled", unpacks.cancelled}}) {
    samples.push_back({"soci_unpacks_total",
                       "Layers pulled as a whole, by what came of it",
                       Kind::kCounter,
                       {{"result", result}},
                       static_cast<double>(count)});
  }
  samples.push_back({"soci_unpacked_bytes_total",
                     "Compressed bytes of layers pulled as a whole",
                     Kind::kCounter,
                     {},
                     static_cast<double>(unpacks.bytes)});
}

void AddReplays(const ImageRecords::Totals& replays, std::vector<MetricSample>& samples) {
  const auto add = [&](const char* name, const char* help, std::map<std::string, std::string> labels, uint64_t value) {
    samples.push_back({name, help, Kind::kCounter, std::move(labels), static_cast<double>(value)});
  };
  add("soci_records_made_total", "Records made of starting containers", {}, replays.records_made);
  add("soci_replays_total", "Replays begun", {}, replays.replays_started);
  add("soci_replays_wrong_total", "Replays given up because programs needed other things", {}, replays.replays_wrong);
  for (const auto& [outcome, count] :
       {std::pair{"hit", replays.hits}, std::pair{"late", replays.late}, std::pair{"miss", replays.misses}}) {
    add("soci_replay_needs_total", "Recorded spans that a program needed, by how the replay had done",
        {{"outcome", outcome}}, count);
  }
}

void AddCache(const CacheLimit::Figures& cache, std::vector<MetricSample>& samples) {
  const auto add = [&](const char* name, const char* help, Kind kind, uint64_t value) {
    samples.push_back({name, help, kind, {}, static_cast<double>(value)});
  };
  add("soci_cache_limit_bytes", "Most that layers with an index keep on the disk", Kind::kGauge, cache.limit);
  add("soci_cache_bytes", "What they keep, and what is reserved for whole ones", Kind::kGauge, cache.held);
  add("soci_evicted_spans_total", "Spans taken off the disk to make room", Kind::kCounter, cache.evicted);
  add("soci_unkept_spans_total", "Spans that were not written for want of room", Kind::kCounter, cache.refused);
}

}  // namespace

std::vector<MetricSample> MetricSamples(const std::vector<LayerReport>& layers, const ImageSessions::Counts& searches,
                                        const LayerUnpacks::Counts& unpacks, const FetchCounters& fetched,
                                        uint64_t decoded_bytes, const ImageRecords::Totals& replays,
                                        const std::optional<CacheLimit::Figures>& cache) {
  std::vector<MetricSample> samples;
  AddLayers(layers, samples);
  AddSearches(searches, samples);
  AddUnpacks(unpacks, samples);
  AddFetched(fetched, samples);
  AddReplays(replays, samples);
  if (cache) AddCache(*cache, samples);
  samples.push_back({"soci_decoded_bytes",
                     "Decoded bytes that wait for the disk",
                     Kind::kGauge,
                     {},
                     static_cast<double>(decoded_bytes)});
  return samples;
}

}  // namespace soci
