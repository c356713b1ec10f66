#include "snapshotter/pull/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace soci {
namespace {

using ::testing::ElementsAre;

TEST(Plan, OnlyALayerWithATableIsTriedLazilyAndDeferringIsAlwaysLast) {
  for (int bits = 0; bits < 8; ++bits) {
    const LayerSituation situation{(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0};
    const PullPlan plan = PlanLayer(situation);
    if (bits == 7) {
      EXPECT_THAT(plan, ElementsAre(Attempt::kLazy, Attempt::kDefer));
    } else {
      EXPECT_THAT(plan, ElementsAre(Attempt::kDefer)) << bits;
    }
  }
}

}  // namespace
}  // namespace soci
