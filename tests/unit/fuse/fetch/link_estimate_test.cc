#include "fuse/fetch/link_estimate.h"

#include <gtest/gtest.h>

namespace soci {
namespace {

using std::chrono::milliseconds;

TEST(LinkEstimate, NothingIsClaimedBeforeThereAreSamples) {
  LinkEstimate link(1000);
  EXPECT_EQ(link.RoundTripBytes(), 1000u);
  EXPECT_EQ(link.SlowFirstByte(), std::nullopt);
  EXPECT_EQ(link.SlowTransfer(1), std::nullopt);
}

TEST(LinkEstimate, ARoundTripIsWorthWhatOneConnectionBringsInIt) {
  LinkEstimate link;
  for (int i = 0; i < 10; ++i) link.Note({milliseconds(100), milliseconds(200), 5'000'000});
  EXPECT_NEAR(static_cast<double>(link.RoundTripBytes()), 2.5e6, 1e3);
}

TEST(LinkEstimate, TheSlowestTwentiethIsNotWaitedFor) {
  LinkEstimate link;
  for (int i = 0; i < 100; ++i) {
    link.Note({i % 25 == 0 ? milliseconds(900) : milliseconds(i % 25 == 1 ? 90 : 30), milliseconds(10), 1'000'000});
  }
  EXPECT_EQ(link.SlowFirstByte(), milliseconds(90));
  EXPECT_NEAR(std::chrono::duration<double>(*link.SlowTransfer(2'000'000)).count(), 0.125, 1e-6);
}

TEST(LinkEstimate, WhereAllTakeAsLongNoneIsSlow) {
  LinkEstimate link;
  for (int i = 0; i < 100; ++i) link.Note({milliseconds(30), milliseconds(10), 1'000'000});
  EXPECT_EQ(link.SlowFirstByte(), milliseconds(75));
}

TEST(LinkEstimate, NothingIsSlowThatTakesOnlySomeMilliseconds) {
  LinkEstimate link;
  for (int i = 0; i < 100; ++i) link.Note({milliseconds(i % 10 == 0 ? 5 : 1), milliseconds(1), 1000});
  EXPECT_EQ(link.SlowFirstByte(), milliseconds(20));
  EXPECT_EQ(link.SlowTransfer(1000), milliseconds(20));
}

TEST(LinkEstimate, ALinkThatChangesIsFollowed) {
  LinkEstimate link;
  for (int i = 0; i < 500; ++i) link.Note({milliseconds(10), milliseconds(10), 1'000'000});
  for (int i = 0; i < 100; ++i) link.Note({milliseconds(50), milliseconds(10), 1'000'000});
  EXPECT_EQ(link.SlowFirstByte(), milliseconds(125));
}

}  // namespace
}  // namespace soci
