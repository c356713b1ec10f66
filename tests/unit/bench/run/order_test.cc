#include "bench/run/order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace soci::bench {
namespace {

std::string Text(const std::vector<Turn>& turns) {
  std::string text;
  for (const Turn& turn : turns) text += static_cast<char>('A' + turn.mode) + std::to_string(turn.repeat);
  return text;
}

TEST(Turns, EveryOtherRepeatGoesBackwards) { EXPECT_EQ(Text(Turns(4, 3)), "A1B1C1D1D2C2B2A2A3B3C3D3"); }

TEST(Turns, OneModeIsSimplyRepeated) { EXPECT_EQ(Text(Turns(1, 3)), "A1A2A3"); }

TEST(Turns, NothingToRunIsNothing) {
  EXPECT_EQ(Text(Turns(0, 3)), "");
  EXPECT_EQ(Text(Turns(3, 0)), "");
}

}  // namespace
}  // namespace soci::bench
