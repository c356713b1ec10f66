#include "snapshotter/replay/replay_plan.h"

#include <algorithm>
#include <map>
#include <optional>

#include "snapshotter/replay/file_paths.h"

namespace soci {
namespace {

struct Need {
  uint64_t position = 0;
  uint64_t at_us = 0;
  bool taken = false;
};
using Needs = std::map<SpanId, Need>;

// When each span is needed first.
Needs FindNeeds(const Record& record, uint32_t layer, const LayerTable& table, uint64_t& unknown) {
  std::map<uint32_t, std::optional<InodeAttributes>> found;
  Needs needs;
  const std::vector<uint64_t> times = NeedTimes(record);
  for (size_t position = 0; position < record.extents.size(); ++position) {
    const RecordedExtent& extent = record.extents[position];
    const RecordedFile& file = record.files[extent.file];
    if (file.layer != layer) continue;
    const auto [place, is_new] = found.try_emplace(extent.file);
    if (is_new) place->second = FindFile(table, file.path);
    if (!place->second || place->second->size != file.size) {
      ++unknown;
      continue;
    }
    const uint64_t begin = place->second->content.begin + extent.offset;
    const SpanId last = table.SpanAt(begin + extent.size - 1);
    for (SpanId span = table.SpanAt(begin); span <= last; span = Next(span)) {
      needs.try_emplace(span, Need{position, times[position], false});
    }
  }
  return needs;
}

}  // namespace

ReplayPlan PlanReplay(const Record& record, uint32_t layer, const LayerTable& table, const ReplayPlanOptions& options) {
  ReplayPlan plan;
  Needs needs = FindNeeds(record, layer, table, plan.unknown_extents);
  std::vector<Needs::iterator> in_order;
  for (auto need = needs.begin(); need != needs.end(); ++need) in_order.push_back(need);
  std::stable_sort(in_order.begin(), in_order.end(),
                   [](const auto& a, const auto& b) { return a->second.position < b->second.position; });
  for (const Needs::iterator& first : in_order) {
    if (first->second.taken) continue;
    first->second.taken = true;
    ReplayStep step{first->second.position, layer, first->first, 1};
    const uint64_t begin = table.Extent(first->first).compressed.begin;
    // A range comes in order, so that only what follows can go with it without delaying it.
    for (auto next = std::next(first); next != needs.end(); ++next, ++step.count) {
      if (ToIndex(next->first) != ToIndex(step.first) + step.count || next->second.taken) break;
      if (next->second.at_us > first->second.at_us + options.together_us) break;
      if (table.Extent(next->first).compressed.end - begin > options.step_bytes) break;
      next->second.taken = true;
    }
    plan.steps.push_back(step);
  }
  return plan;
}

}  // namespace soci
