// How much a real mount fetches for what is read, as counts of spans and bytes; by the numbers of our list of field
// reports where one asked.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <random>
#include <set>
#include <thread>

#include "indexer/base/file_io.h"
#include "indexer/base/memory.h"
#include "tests/lazy/lazy_mount.h"
#include "tests/support/memory_use.h"
#include "tests/support/tar_builder.h"
#include "tests/support/temporary_directory.h"

namespace soci {
namespace {

using test::IndexedLayer;
using test::MakeIndexedLayer;
using test::NoiseBytes;
using test::TarBuilder;

class Fetched : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = test::WhyNoMounts(); !why.empty()) GTEST_SKIP() << why;
    parts_ = std::make_unique<test::LazyParts>();
  }
  void Mount(const IndexedLayer& layer) { mount_ = std::make_unique<test::LazyMount>(*parts_, root_.path(), layer); }

  // Compressed bytes of the spans that these bytes of the tar lie in.
  void Touch(const LayerTable& table, UncompressedRange wanted) {
    for (SpanId span = table.SpanAt(wanted.begin); span <= table.SpanAt(wanted.end - 1); span = Next(span)) {
      if (touched_.insert(span).second) touched_bytes_ += table.Extent(span).compressed.size();
    }
  }

  const test::TemporaryDirectory root_;
  std::unique_ptr<test::LazyParts> parts_;
  std::unique_ptr<test::LazyMount> mount_;
  std::set<SpanId> touched_;
  uint64_t touched_bytes_ = 0;
};

// What is guessed at the beginning, before a file read at random is known as such, is the rest.
TEST_F(Fetched, TwoThousandRandomPagesOfABigFileCostTheirSpans) {
  constexpr uint64_t kSize = 64 << 20;
  const IndexedLayer layer = MakeIndexedLayer(TarBuilder().File("big", NoiseBytes(kSize, 1)).Finish(),
                                              {.compression = Compression::kUncompressed, .span_size = 16 << 10});
  Mount(layer);
  const UniqueFd file = *OpenFile(mount_->path() + "/big", O_RDONLY);
  ASSERT_EQ(::posix_fadvise(file.get(), 0, 0, POSIX_FADV_RANDOM), 0);
  const auto inode = layer.table->Lookup(InodeId::kRoot, "big");
  ASSERT_TRUE(inode);
  const UncompressedRange content = layer.table->Attributes(*inode)->content;
  std::mt19937_64 random(5);
  char page[4096];
  for (int i = 0; i < 2000; ++i) {
    const uint64_t begin = random() % (kSize / sizeof page) * sizeof page;
    ASSERT_EQ(::pread(file.get(), page, sizeof page, static_cast<off_t>(begin)), static_cast<ssize_t>(sizeof page));
    Touch(*layer.table, {content.begin + begin, content.begin + begin + sizeof page});
  }
  EXPECT_LE(mount_->bytes_fetched(), touched_bytes_ * 105 / 100);
  EXPECT_LE(mount_->store().present_count(), touched_.size() * 105 / 100);
}

TEST_F(Fetched, E2_StatAndReadOfManySmallFilesCostTheirSpans) {
  constexpr uint64_t kFiles = 20'000;
  TarBuilder tar;
  for (uint64_t i = 0; i < kFiles; ++i) {
    if (i % 100 == 0) tar.Directory("d" + std::to_string(i / 100));
    tar.File("d" + std::to_string(i / 100) + "/f" + std::to_string(i), NoiseBytes(2000, i));
  }
  const IndexedLayer layer = MakeIndexedLayer(tar.Finish(), {.span_size = 64 << 10});
  Mount(layer);
  std::mt19937_64 random(9);
  for (int i = 0; i < 2000; ++i) {
    const uint64_t number = random() % kFiles;
    const std::string folder = "d" + std::to_string(number / 100), name = "f" + std::to_string(number);
    struct stat attributes {};
    ASSERT_EQ(::stat((mount_->path() + "/" + folder + "/" + name).c_str(), &attributes), 0);
    ASSERT_TRUE(*ReadFile(mount_->path() + "/" + folder + "/" + name) == NoiseBytes(2000, number));
    const auto inode = layer.table->Lookup(*layer.table->Lookup(InodeId::kRoot, folder), name);
    Touch(*layer.table, layer.table->Attributes(*inode)->content);
  }
  EXPECT_LE(mount_->store().present_count(), touched_.size() * 12 / 10);
  EXPECT_LE(mount_->requests(), touched_.size() * 12 / 10);
}

TEST_F(Fetched, E7_SpansOfAnySizeAreReadRight) {
  const std::string content = NoiseBytes(3'000'000, 3);
  for (const uint64_t span_size : {uint64_t{1} << 10, uint64_t{64} << 20}) {
    const IndexedLayer layer =
        MakeIndexedLayer(TarBuilder().File("f", content).Finish(), {.span_size = span_size, .block_size = 512});
    Mount(layer);
    EXPECT_TRUE(*ReadFile(mount_->path() + "/f") == content) << span_size;
    mount_.reset();
    std::filesystem::remove_all(root_ / "layer");
  }
}

// What is freed goes back to the system first: the C library keeps it otherwise.
uint64_t AnonymousBytes() {
  ReturnFreedMemory();
  return test::AnonymousBytes();
}

// Other threads only ever add to what is counted, so the least of some rounds is what a mount takes.
TEST_F(Fetched, E3_MountsTakeLittleMemoryForAFileAndGiveAllOfItBack) {
  constexpr uint64_t kFiles = 10'000, kFolder = 100, kNoise = 2 << 20;
  TarBuilder tar;
  for (uint64_t i = 0; i < kFiles; ++i) {
    if (i % kFolder == 0) tar.Directory("d" + std::to_string(i / kFolder));
    tar.File("d" + std::to_string(i / kFolder) + "/f" + std::to_string(i), "text");
  }
  ::mallopt(M_ARENA_MAX, 2);  // as the daemon
  IndexedLayer layer = MakeIndexedLayer(tar.Finish(), {.span_size = 64 << 10, .block_size = 16 << 10});
  ASSERT_TRUE(ReplaceFile(root_ / "table", layer.table_bytes).ok());
  layer.tar.clear();
  layer.table.reset();
  uint64_t mounted = ~uint64_t{0}, first = 0, after = 0;
  for (int round = 0; round < 4; ++round) {
    const uint64_t before = AnonymousBytes();
    layer.table = *LayerTable::Open(root_ / "table", layer.digest);  // mapped, as the daemon has it
    Mount(layer);
    for (uint64_t i = 0; i < kFiles; ++i) {
      const std::string path = mount_->path() + "/d" + std::to_string(i / kFolder) + "/f" + std::to_string(i);
      struct stat attributes {};
      ASSERT_EQ(::stat(path.c_str(), &attributes), 0);
      if (i % (kFiles / 2) == 0) {
        ASSERT_EQ(*ReadFile(path), "text");
      }
    }
    while (parts_->scheduler.decoded_bytes() > 0) std::this_thread::yield();  // they wait for the disk
    const uint64_t in_use = AnonymousBytes();
    mount_.reset();
    layer.table.reset();
    std::filesystem::remove_all(root_ / "layer");
    if (round == 0) {
      first = AnonymousBytes();  // arenas, threads and pools have grown
      continue;
    }
    mounted = std::min(mounted, in_use - std::min(in_use, before));
    after = AnonymousBytes();
  }
  if (!test::kMemoryIsOurs) GTEST_SKIP() << "sanitizers keep memory of their own";
  EXPECT_LT(mounted, 300 * kFiles);
  EXPECT_LT(after, first + kNoise);
}

uint64_t DiskBytes(const std::string& folder) {
  uint64_t blocks = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    struct stat attributes {};
    if (::lstat(entry.path().c_str(), &attributes) == 0) blocks += static_cast<uint64_t>(attributes.st_blocks);
  }
  return blocks * 512;
}

TEST_F(Fetched, G5_TheDiskHoldsWhatWasReadOnceAndInTheEndOnlyTheLayer) {
  constexpr uint64_t kSize = 16 << 20, kSpan = 64 << 10, kSlack = 256 << 10;  // folders, table, whole blocks
  const IndexedLayer layer = MakeIndexedLayer(TarBuilder().File("big", NoiseBytes(kSize, 1)).Finish(),
                                              {.compression = Compression::kUncompressed, .span_size = kSpan});
  Mount(layer);
  {
    const UniqueFd file = *OpenFile(mount_->path() + "/big", O_RDONLY);
    ASSERT_EQ(::posix_fadvise(file.get(), 0, 0, POSIX_FADV_RANDOM), 0);
    char page[4096];
    for (uint64_t i = 0; i < 40; ++i) ASSERT_GT(::pread(file.get(), page, sizeof page, i * 97 % 256 * kSpan), 0);
  }
  mount_->Remount();                                     // waits for what was read to be on the disk
  EXPECT_LE(mount_->store().present_count(), 42u + 8u);  // neighbours are guessed until they prove useless
  EXPECT_LE(DiskBytes(root_ / "layer"), mount_->store().present_count() * (kSpan + 8192) + kSlack);
  mount_->Fill();
  EXPECT_LE(DiskBytes(root_ / "layer"), kSize + kSlack);
  ASSERT_TRUE(mount_->Seal().ok());
  EXPECT_LE(DiskBytes(root_ / "layer"), kSize + kSlack);
}

// Pages of the file that are in memory.
uint64_t CachedBytes(const std::string& path, uint64_t size) {
  const UniqueFd file = *OpenFile(path, O_RDONLY);
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file.get(), 0);
  if (address == MAP_FAILED) return 0;
  std::vector<unsigned char> pages((size + 4095) / 4096);
  uint64_t cached = 0;
  if (::mincore(address, size, pages.data()) == 0) {
    for (const unsigned char page : pages) cached += (page & 1) * 4096u;
  }
  ::munmap(address, size);
  return cached;
}

// While a layer is lazy its mount and the files below have pages of their own; from sealing on there are the latter
// only, as with any other overlay.
TEST_F(Fetched, E6_WhatIsReadFromASealedLayerIsInThePageCacheOnce) {
  constexpr uint64_t kSize = 8 << 20;
  const std::string content = NoiseBytes(kSize, 1);
  const IndexedLayer layer = MakeIndexedLayer(TarBuilder().File("big", content).Finish(), {.span_size = 1 << 20});
  Mount(layer);
  ASSERT_TRUE(*ReadFile(mount_->path() + "/big") == content);
  mount_->Fill();
  ASSERT_TRUE(mount_->Seal().ok());
  const std::string sealed = mount_->store().sealed_path() + "/big", merged = root_ / "merged";
  EXPECT_LE(CachedBytes(sealed, kSize), kSize);
  for (const char* folder : {"", "-up", "-work", "-none"}) std::filesystem::create_directories(merged + folder);
  const std::string data = "lowerdir=" + mount_->store().sealed_path() + ":" + merged + "-none,upperdir=" + merged +
                           "-up,workdir=" + merged + "-work";
  ASSERT_EQ(::mount("overlay", merged.c_str(), "overlay", 0, data.c_str()), 0) << std::strerror(errno);
  mount_.reset();  // the pages of the mount go with it
  EXPECT_TRUE(*ReadFile(merged + "/big") == content);
  // The same pages by both names: it was read without a second copy.
  EXPECT_EQ(CachedBytes(merged + "/big", kSize), CachedBytes(sealed, kSize));
  EXPECT_EQ(::umount2(merged.c_str(), MNT_DETACH), 0);
}

}  // namespace
}  // namespace soci
