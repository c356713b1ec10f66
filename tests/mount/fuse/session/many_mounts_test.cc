#include <sys/resource.h>

#include <vector>

#include "tests/mount/fuse/session/layer_mount.h"
#include "tests/support/memory_use.h"

namespace soci::test {
namespace {

TEST_F(LayerMount, C8_AHundredAndTwentySevenLowersMakeOneOverlay) {
  std::vector<std::unique_ptr<FakeLayerTable>> tables;
  std::vector<std::unique_ptr<FakeLayerReader>> readers;
  std::vector<std::unique_ptr<MountHandle>> mounts;
  std::string lowers;
  for (int i = 0; i < 127; ++i) {
    tables.push_back(std::make_unique<FakeLayerTable>());
    tables.back()->File("f" + std::to_string(i), std::to_string(i));
    tables.back()->File("top", std::to_string(i));
    readers.push_back(std::make_unique<FakeLayerReader>(*tables.back()));
    mounts.push_back(MountAt(*readers.back(), std::to_string(i)));
    ASSERT_NE(mounts.back(), nullptr);
    // Short names relative to the folder, as the daemon's own short links do for it.
    lowers = std::to_string(i) + (lowers.empty() ? "" : ":") + lowers;
  }
  std::string previous = std::filesystem::current_path();
  ASSERT_EQ(::chdir(root_.path().c_str()), 0);
  std::string merged = Overlay(lowers, "merged");
  ASSERT_EQ(::chdir(previous.c_str()), 0);
  for (int i = 0; i < 127; ++i) EXPECT_EQ(Slurp(merged + "/f" + std::to_string(i)), std::to_string(i));
  EXPECT_EQ(Slurp(merged + "/top"), "126");
}

TEST_F(LayerMount, TwoHundredMountsCostLittleMemory) {
  table_.Directory("d");
  table_.File("d/f", "content");
  FakeLayerReader reader(table_);
  uint64_t before = AnonymousBytes();
  std::vector<std::unique_ptr<MountHandle>> mounts;
  for (int i = 0; i < 200; ++i) {
    mounts.push_back(MountAt(reader, std::to_string(i)));
    ASSERT_NE(mounts.back(), nullptr);
    EXPECT_EQ(Slurp(root_ / (std::to_string(i) + "/d/f")), "content");
  }
  uint64_t grown = AnonymousBytes() - before;
  RecordProperty("anonymous_bytes", static_cast<int>(grown));
  // A daemon with 200 layers has 150 MB for everything; its sessions get a tenth of that.
  if (!kMemoryIsOurs) GTEST_SKIP() << "sanitizers keep memory of their own";
  EXPECT_LT(grown, 15u << 20);
}

}  // namespace
}  // namespace soci::test
