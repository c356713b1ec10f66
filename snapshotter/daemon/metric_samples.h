// The daemon's metrics, from what its parts know. Pure; docs/metrics.md explains each.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "fuse/fetch/fetch_counters.h"
#include "fuse/store/cache_limit.h"
#include "snapshotter/pull/image_session.h"
#include "snapshotter/pull/layer_report.h"
#include "snapshotter/pull/layer_unpacks.h"
#include "snapshotter/replay/image_records.h"
#include "snapshotter/telemetry/metrics_exporter.h"

namespace soci {

std::vector<MetricSample> MetricSamples(const std::vector<LayerReport>& layers, const ImageSessions::Counts& searches,
                                        const LayerUnpacks::Counts& unpacks, const FetchCounters& fetched,
                                        uint64_t decoded_bytes, const ImageRecords::Totals& replays,
                                        const std::optional<CacheLimit::Figures>& cache = std::nullopt);

}  // namespace soci
