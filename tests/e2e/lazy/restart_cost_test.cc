// What a start of the daemon does, by its own count of calls: little, and little more with many snapshots (E10).
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "snapshotter/metastore/metastore.h"
#include "tests/e2e/support/lazy_start.h"

namespace soci::test {
namespace {

constexpr uint64_t kSnapshots = 200;

class RestartCost : public LazyStart {
 protected:
  // Calls that read or write until it answers.
  uint64_t CallsOfAStart() {
    daemon_.Start();
    std::ifstream io("/proc/" + std::to_string(daemon_.pid()) + "/io");
    uint64_t calls = 0, value = 0;
    for (std::string key; io >> key >> value;) {
      if (key == "syscr:" || key == "syscw:") calls += value;
    }
    daemon_.Stop();
    return calls;
  }
};

TEST_F(RestartCost, E10_AStartDoesAlmostTheSameWithTwoHundredSnapshotsAsWithNone) {
  daemon_.Stop();
  const uint64_t without = CallsOfAStart();
  {
    auto metastore = Metastore::Open(daemon_.state() + "/metadata.db");
    ASSERT_TRUE(metastore.ok()) << metastore.status();
    for (uint64_t i = 0; i < kSnapshots; ++i) {
      const auto made = (*metastore)->Create(SnapshotKind::kActive, "default/1/k" + std::to_string(i), "", {});
      ASSERT_TRUE(made.ok()) << made.status();
      const std::string folder = daemon_.state() + "/snapshots/" + std::to_string(made->snapshot.id);
      std::filesystem::create_directories(folder + "/fs");
      std::filesystem::create_directories(folder + "/work");
    }
  }
  const uint64_t with = CallsOfAStart();
  RecordProperty("without", std::to_string(without));
  RecordProperty("with", std::to_string(with));
  EXPECT_LE(without, 1000u);
  EXPECT_LE(with, without + 2 * kSnapshots);
  daemon_.Start();
}

}  // namespace
}  // namespace soci::test
