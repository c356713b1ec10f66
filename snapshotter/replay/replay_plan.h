// From a record and a layer's table to the spans to fetch: in order of first need, neighbours that are needed within a
// short time together. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "indexer/base/ranges.h"
#include "indexer/record/record.h"
#include "indexer/table/layer_table.h"

namespace soci {

// Neighbouring spans of one layer, to be fetched as one range.
struct ReplayStep {
  uint64_t position = 0;  // of the extent that needs them first: the order of all steps of an image
  uint32_t layer = 0;     // index into Record::layers
  SpanId first{};
  uint32_t count = 0;
};

struct ReplayPlan {
  std::vector<ReplayStep> steps;
  uint64_t unknown_extents = 0;  // of files that the layer does not have, or not with that size
};

struct ReplayPlanOptions {
  uint64_t step_bytes = 8 << 20;  // compressed
  // How much sooner than it is needed a span may come for being the neighbour of another; of the program's own time.
  // What comes too soon takes the place of something that is needed before it.
  uint64_t together_us = 500'000;
};

// The part of the plan that lies in one layer. Every span is in one step at most.
ReplayPlan PlanReplay(const Record& record, uint32_t layer, const LayerTable& table,
                      const ReplayPlanOptions& options = {});

}  // namespace soci
