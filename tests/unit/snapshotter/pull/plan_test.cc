#include "snapshotter/pull/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace soci {
namespace {

using ::testing::ElementsAre;

TEST(Plan, ATableIsUsedFirstAndOurOwnUnpackWithoutOneAndDeferringIsAlwaysLast) {
  for (int bits = 0; bits < 16; ++bits) {
    const LayerSituation situation{(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0, (bits & 8) != 0};
    const PullPlan plan = PlanLayer(situation);
    if (situation.allowed && situation.has_table) {
      EXPECT_THAT(plan, ElementsAre(Attempt::kLazy, Attempt::kDefer)) << bits;
    } else if (situation.allowed && situation.may_unpack) {
      EXPECT_THAT(plan, ElementsAre(Attempt::kUnpack, Attempt::kDefer)) << bits;
    } else {
      EXPECT_THAT(plan, ElementsAre(Attempt::kDefer)) << bits;
    }
  }
}

}  // namespace
}  // namespace soci
