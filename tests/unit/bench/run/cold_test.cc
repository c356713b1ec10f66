#include "bench/run/cold.h"

#include <gtest/gtest.h>

#include <system_error>

namespace soci::bench {
namespace {

// It was a silent nothing once, and figures were those of the host's memory.
TEST(ColdMachine, RefusesAFolderWhereItCannotHoldMemoryThatTheHostWouldTake) {
  if (!HostTakesFreeMemory()) GTEST_SKIP() << "the host leaves memory alone";
  EXPECT_THROW(ColdMachine("/there/is/no/such/folder"), std::system_error);
}

}  // namespace
}  // namespace soci::bench
