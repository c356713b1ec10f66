#include "snapshotter/replay/replay_plan.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "snapshotter/replay/file_paths.h"

namespace soci {
namespace {

struct Need {
  uint64_t position = 0;
  uint64_t at_us = 0;
  bool taken = false;
};
using Needs = std::map<SpanId, Need>;

// The spans that nobody has needed yet, each found once: extents may lie over each other, as one file may have many
// names.
class FreshSpans {
 public:
  explicit FreshSpans(uint32_t count) : next_(count + size_t{1}) { std::iota(next_.begin(), next_.end(), 0); }

  // Takes the first one in [first, last].
  std::optional<SpanId> Take(SpanId first, SpanId last) {
    const uint32_t found = Find(ToIndex(first));
    if (found > ToIndex(last) || found + size_t{1} == next_.size()) return std::nullopt;
    next_[found] = found + 1;
    return SpanId{found};
  }

 private:
  uint32_t Find(uint32_t span) {
    while (next_[span] != span) span = std::exchange(next_[span], next_[next_[span]]);
    return span;
  }

  std::vector<uint32_t> next_;  // of each span the first fresh one from there on, or one before that
};

// When each span is needed first.
Needs FindNeeds(const Record& record, uint32_t layer, const LayerTable& table, uint64_t& unknown) {
  std::map<uint32_t, std::optional<InodeAttributes>> found;
  Needs needs;
  FreshSpans fresh(table.span_count());
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
    const SpanId first = table.SpanAt(begin);
    while (const std::optional<SpanId> span = fresh.Take(first, last)) {
      needs.emplace(*span, Need{position, times[position], false});
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
