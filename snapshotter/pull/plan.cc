#include "snapshotter/pull/plan.h"

namespace soci {

PullPlan PlanLayer(const LayerSituation& situation) {
  if (situation.allowed && situation.has_index && situation.has_table) return {Attempt::kLazy, Attempt::kDefer};
  return {Attempt::kDefer};
}

}  // namespace soci
