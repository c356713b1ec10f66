#include "bench/run/catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "bench/link/options.h"
#include "bench/run/contestant.h"

namespace soci::bench {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Catalog, EveryScenarioCanBeRun) {
  for (const CatalogEntry& entry : Catalog()) {
    SCOPED_TRACE(entry.name);
    EXPECT_TRUE(NamedWorkload(entry.workload).ok());
    for (const std::string& link : entry.links) EXPECT_TRUE(link == "none" || ParseLink(link).ok()) << link;
    for (const std::string& mode : entry.modes) EXPECT_TRUE(mode == "peers" || KnownContestant(mode).ok()) << mode;
  }
}

TEST(Catalog, EveryScenarioIsExplained) {
  std::ifstream stream(SOCI_SOURCE_DIR "/docs/benchmarking.md");
  const std::string page(std::istreambuf_iterator<char>(stream), {});
  for (const CatalogEntry& entry : Catalog())
    EXPECT_THAT(page, HasSubstr("\n| " + entry.name.substr(0, entry.name.rfind(' ')) + " | "));
}

TEST(Catalog, TheShortSetHasOursAndNoPeersOnAnImageThatIsMadeInSeconds) {
  const auto short_set = FindScenarios({"short"});
  ASSERT_TRUE(short_set.ok());
  for (const CatalogEntry& entry : *short_set) {
    SCOPED_TRACE(entry.name);
    EXPECT_EQ(entry.image, "S");
    EXPECT_THAT(entry.modes, Contains("lazy"));
    EXPECT_THAT(entry.modes, Not(Contains("peers")));
  }
}

TEST(Catalog, SeveralScenariosHaveNamesTogether) {
  EXPECT_EQ(FindScenarios({"all"})->size(), Catalog().size());
  EXPECT_LT(FindScenarios({"short"})->size(), Catalog().size() / 4);
  EXPECT_EQ(FindScenarios({"survival", "demo"})->size(), 2u);
  EXPECT_GE(FindScenarios({"density"})->size(), 5u);
  EXPECT_EQ(FindScenarios({"density 5%"})->size(), 1u);
  EXPECT_THAT(std::string(Message(FindScenarios({"fastest"}).status())), HasSubstr("start-to-exec"));
}

}  // namespace
}  // namespace soci::bench
