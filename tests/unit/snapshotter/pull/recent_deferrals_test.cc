#include "snapshotter/pull/recent_deferrals.h"

#include <gtest/gtest.h>

namespace soci {
namespace {

TEST(RecentDeferrals, TheSameReasonAgainIsCountedAndMovesToTheEnd) {
  RecentDeferrals deferrals(SystemClock());
  deferrals.Add("image", "a", "no index");
  deferrals.Add("image", "b", "no index");
  deferrals.Add("image", "a", "no index");
  const auto list = deferrals.List();
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[1].layer, "a");
  EXPECT_EQ(list[1].times, 2u);
}

TEST(RecentDeferrals, TheOldestGoesWhenTheListIsFull) {
  RecentDeferrals deferrals(SystemClock(), 2);
  for (const char* layer : {"a", "b", "c"}) deferrals.Add("image", layer, "no index");
  const auto list = deferrals.List();
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0].layer, "b");
}

}  // namespace
}  // namespace soci
