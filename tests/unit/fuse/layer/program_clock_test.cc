#include "fuse/layer/program_clock.h"

#include <gtest/gtest.h>

#include <optional>

#include "tests/fakes/fake_clock.h"

namespace soci {
namespace {

using std::chrono::seconds;

TEST(ProgramClock, ItStandsStillWhileAReadWaits) {
  FakeClock clock;
  ProgramClock program(clock);
  clock.Advance(seconds(2));
  {
    const ProgramClock::Wait wait(program);
    clock.Advance(seconds(5));
    EXPECT_EQ(program.Now(), seconds(2));
  }
  clock.Advance(seconds(1));
  EXPECT_EQ(program.Now(), seconds(3));
  EXPECT_EQ(program.waits().count, 1u);
  EXPECT_EQ(program.waits().time, seconds(5));
}

TEST(ProgramClock, WaitsSideBySideStopItOnce) {
  FakeClock clock;
  ProgramClock program(clock);
  std::optional<ProgramClock::Wait> first(std::in_place, program);
  clock.Advance(seconds(1));
  std::optional<ProgramClock::Wait> second(std::in_place, program);
  clock.Advance(seconds(1));
  first.reset();
  clock.Advance(seconds(1));
  second.reset();
  EXPECT_EQ(program.Now(), seconds(0));
  EXPECT_EQ(program.waits().count, 2u);
  EXPECT_EQ(program.waits().time, seconds(4));
}

}  // namespace
}  // namespace soci
