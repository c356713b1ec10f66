// A disk that is full: nothing is lost, reads go on from memory, and the layer goes on when there is room again.
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <future>
#include <thread>

#include "indexer/base/file_io.h"
#include "tests/layers/tree.h"
#include "tests/lazy/lazy_mount.h"
#include "tests/support/tar_builder.h"
#include "tests/support/temporary_directory.h"

namespace soci {
namespace {

using test::IndexedLayer;
using test::MakeIndexedLayer;
using test::NoiseBytes;
using test::TarBuilder;

class FullDisk : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = test::WhyNoMounts(); !why.empty()) GTEST_SKIP() << why;
    std::filesystem::create_directory(disk_);
    MountDisk("size=512k", 0);
  }
  void MountDisk(const char* size, unsigned long flags) {
    ASSERT_EQ(::mount("tmpfs", disk_.c_str(), "tmpfs", flags, size), 0) << std::strerror(errno);
  }
  static IndexedLayer OneMegabyte() {
    TarBuilder tar;
    for (int i = 0; i < 20; ++i) tar.File("f" + std::to_string(i), NoiseBytes(50'000, static_cast<uint64_t>(i)));
    return MakeIndexedLayer(tar.Finish());
  }

  const test::TemporaryDirectory root_;
  const std::string disk_ = root_ / "disk";
};

TEST_F(FullDisk, F8_WritingFailsWithItsErrnoAndGoesOnWhenThereIsRoom) {
  const IndexedLayer layer = OneMegabyte();
  FdCache files;
  const auto store = *LayerStore::Open(disk_ + "/layer", layer.table, files);
  const auto put = [&](SpanId span) { return store->WriteSpan(span, layer.Decoded(span)); };
  Status status;
  SpanId span{0};
  for (; status.ok() && ToIndex(span) < layer.table->span_count(); span = Next(span)) status = put(span);
  EXPECT_EQ(StatusErrno(status), ENOSPC);
  const uint32_t before = store->present_count();
  EXPECT_EQ(before + 1, ToIndex(span));

  MountDisk("size=16m", MS_REMOUNT);
  while (const auto missing = store->NextMissing(SpanId{0})) ASSERT_TRUE(put(*missing).ok());
  ASSERT_TRUE(store->Seal({.diff_id = layer.diff_id, .read_tail = {}, .stop = {}}).ok());
  EXPECT_EQ(test::Differences(test::WalkTable(*layer.table, layer.tar), test::WalkDirectory(store->sealed_path())), "");
}

// One layer, mounted, with its folder on the small disk.
class MountedOnAFullDisk : public FullDisk {
 protected:
  void SetUp() override {
    FullDisk::SetUp();
    if (IsSkipped()) return;
    const std::string folder = root_ / "lazy";
    std::filesystem::create_directories(folder);
    std::filesystem::create_directory_symlink(disk_, folder + "/layer");
    parts_ = std::make_unique<test::LazyParts>();
    mount_ = std::make_unique<test::LazyMount>(*parts_, folder, layer_);
  }
  std::vector<SpanId> AllSpans() const {
    std::vector<SpanId> spans;
    for (uint32_t i = 0; i < layer_.table->span_count(); ++i) spans.push_back(SpanId{i});
    return spans;
  }
  // An end of the fetcher would drop what still waits for the disk.
  void WaitForWrites() {
    while (parts_->scheduler.decoded_bytes() > 0) std::this_thread::yield();
  }
  void MakeRoom() { MountDisk("size=16m", MS_REMOUNT); }
  void ExpectRight(const std::string& tree) {
    EXPECT_EQ(test::Differences(test::WalkTable(*layer_.table, layer_.tar), test::WalkDirectory(tree)), "");
  }
  uint64_t FailedWrites() const { return parts_->scheduler.counters().faults[static_cast<size_t>(FetchFault::kDisk)]; }

  const IndexedLayer layer_ = OneMegabyte();
  std::unique_ptr<test::LazyParts> parts_;
  std::unique_ptr<test::LazyMount> mount_;
};

TEST_F(MountedOnAFullDisk, F8_ReadsAreServedFromMemoryAndKeptAgainWhenThereIsRoom) {
  ExpectRight(mount_->path());
  EXPECT_GT(FailedWrites(), 0u);
  EXPECT_FALSE(mount_->store().complete());
  MakeRoom();
  mount_->Remount();  // so that the kernel asks again
  ExpectRight(mount_->path());
  WaitForWrites();
  ASSERT_TRUE(mount_->store().complete());
  ASSERT_TRUE(mount_->Seal().ok());
  ExpectRight(mount_->store().sealed_path());
}

TEST_F(MountedOnAFullDisk, F8_FillWaitsForRoomWhileReadsGoOnAndTheLayerIsSealedInTheEnd) {
  auto fill = std::async(std::launch::async, [this] { mount_->Fill(); });
  while (FailedWrites() == 0) std::this_thread::yield();
  ExpectRight(mount_->path());
  EXPECT_FALSE(mount_->store().complete());
  MakeRoom();
  fill.get();
  ASSERT_TRUE(mount_->Seal().ok());
  ExpectRight(mount_->store().sealed_path());
}

TEST_F(MountedOnAFullDisk, F8_WhatIsReplayedOnAFullDiskIsServedAndKeptWhenThereIsRoom) {
  for (const Status& arrived : mount_->Replay(AllSpans())) EXPECT_EQ(arrived, OkStatus());
  while (FailedWrites() == 0) std::this_thread::yield();
  ExpectRight(mount_->path());
  EXPECT_FALSE(mount_->store().complete());
  MakeRoom();
  mount_->Remount();
  for (const Status& arrived : mount_->Replay(AllSpans())) {
    EXPECT_TRUE(arrived.ok() || absl::IsAlreadyExists(arrived)) << arrived;
  }
  WaitForWrites();
  EXPECT_TRUE(mount_->store().complete());
}

// Folders, links and names need room too.
TEST_F(FullDisk, F8_ALayerThatCannotBeSealedForWantOfRoomIsReadableAndSealedWhenThereIsSome) {
  MountDisk("size=16m,nr_inodes=60", MS_REMOUNT);
  TarBuilder tar;
  for (int i = 0; i < 20; ++i) tar.File("f" + std::to_string(i), NoiseBytes(5'000, static_cast<uint64_t>(i)));
  for (int i = 0; i < 50; ++i) tar.Directory("d" + std::to_string(i)).Symlink("l" + std::to_string(i), "f1");
  const IndexedLayer layer = MakeIndexedLayer(tar.Finish());
  const std::string folder = root_ / "lazy";
  std::filesystem::create_directories(folder);
  std::filesystem::create_directory_symlink(disk_, folder + "/layer");
  test::LazyParts parts;
  test::LazyMount mount(parts, folder, layer);
  const test::Tree expected = test::WalkTable(*layer.table, layer.tar);
  mount.Fill();
  EXPECT_EQ(StatusErrno(mount.Seal()), ENOSPC);
  EXPECT_EQ(StatusErrno(mount.Seal()), ENOSPC);
  EXPECT_EQ(test::Differences(expected, test::WalkDirectory(mount.path())), "");
  MountDisk("size=16m,nr_inodes=10k", MS_REMOUNT);
  const Status sealed = mount.Seal();
  ASSERT_TRUE(sealed.ok()) << sealed;
  EXPECT_EQ(test::Differences(expected, test::WalkDirectory(mount.store().sealed_path())), "");
}

}  // namespace
}  // namespace soci
