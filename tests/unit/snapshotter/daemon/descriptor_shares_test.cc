#include "snapshotter/daemon/descriptor_shares.h"

#include <gtest/gtest.h>

namespace soci {
namespace {

TEST(DescriptorShares, WhereThereAreEnoughEverybodyGetsWhatIsConfigured) {
  DescriptorShares wanted;
  wanted.connections = 48;
  wanted.demand_connections = 20;
  const DescriptorShares shares = ShareDescriptors(1 << 20, wanted);
  EXPECT_EQ(shares.cached_files, 64u);
  EXPECT_EQ(shares.connections, 48u);
  EXPECT_EQ(shares.demand_connections, 20u);
  EXPECT_GT(shares.mounts, 1'000'000u);
}

TEST(DescriptorShares, TwoHundredAndFiftySixAreEnoughForTwoHundredLayers) {
  const DescriptorShares shares = ShareDescriptors(256, {});
  EXPECT_EQ(shares.mounts, 200u);
  EXPECT_EQ(shares.cached_files, 8u);
  EXPECT_EQ(shares.connections, 8u);
  EXPECT_EQ(shares.demand_connections, 4u);
}

TEST(DescriptorShares, NoLimitIsExceededNorAnybodyLeftWithout) {
  for (uint64_t limit = 64; limit < 2000; ++limit) {
    const DescriptorShares shares = ShareDescriptors(limit, {});
    EXPECT_LE(shares.mounts + shares.cached_files + shares.connections + 40, limit);
    EXPECT_GE(shares.mounts, std::min<uint64_t>(200, limit - 56));
    EXPECT_GE(shares.demand_connections, 1u);
    EXPECT_LT(shares.demand_connections, shares.connections);
  }
}

}  // namespace
}  // namespace soci
