#include "fuse/fetch/hedge_budget.h"

#include <gtest/gtest.h>

namespace soci {
namespace {

TEST(HedgeBudget, OneInTwentyRequestsMayBeMadeTwice) {
  HedgeBudget budget;
  EXPECT_FALSE(budget.Take());
  int hedges = 0;
  for (int i = 0; i < 1000; ++i) {
    budget.NoteRequest();
    hedges += budget.Take();
  }
  EXPECT_EQ(hedges, 50);
}

}  // namespace
}  // namespace soci
