#include "snapshotter/pull/plan.h"

namespace soci {

PullPlan PlanLayer(const LayerSituation& situation) {
  if (situation.allowed && situation.has_table) return {Attempt::kLazy, Attempt::kDefer};
  if (situation.allowed && situation.may_unpack) return {Attempt::kUnpack, Attempt::kDefer};
  return {Attempt::kDefer};
}

}  // namespace soci
