// Layers under a limit: what is kept, what gives way, and that no reader ever notices but by waiting.
#include "fuse/store/cache_limit.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <map>
#include <thread>

#include "indexer/base/units.h"
#include "tests/unit/fuse/store/store_fixture.h"

namespace soci {
namespace {

using test::IndexedLayer;
using test::MakeIndexedLayer;
using test::NoiseBytes;
using test::SampleTar;
using test::TarBuilder;

// What the limit promises to bound: the blocks of backing files and of the residue.
uint64_t BytesOnDisk(const std::string& folder) {
  uint64_t bytes = 0;
  const auto add = [&](const std::string& path) {
    struct stat attributes {};
    if (::lstat(path.c_str(), &attributes) == 0 && S_ISREG(attributes.st_mode)) {
      bytes += static_cast<uint64_t>(attributes.st_blocks) * 512;
    }
  };
  add(folder + "/residue");
  std::error_code error;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder + "/data", error)) add(entry.path());
  return bytes;
}

class CacheLimitTest : public test::StoreTest {
 protected:
  static void ExpectFindsDamage(LayerStore& store, const IndexedLayer& layer, InodeId file) {
    EXPECT_THAT(ReadAll(store, layer, file), ::testing::HasSubstr("is not present"));
  }
  std::unique_ptr<LayerStore> OpenUnder(CacheLimit& limit, const IndexedLayer& layer, const std::string& name = "one",
                                        LayerStoreOptions options = {}) {
    options.limit = &limit;
    auto store = LayerStore::Open(root_ / name, layer.table, files_, std::move(options));
    if (!store.ok()) throw std::runtime_error(std::string(Message(store.status())));
    return *std::move(store);
  }
  // Files of all kinds; spans of 64 KiB, many blocks each.
  static const IndexedLayer& Large() {
    static const IndexedLayer layer = [] {
      TarBuilder tar;
      for (uint32_t i = 0; i < 6; ++i) tar.File("big" + std::to_string(i), NoiseBytes(300'000 + i * 4'321, i));
      for (uint32_t i = 0; i < 60; ++i) tar.File("small" + std::to_string(i), NoiseBytes(i * 571, 100 + i));
      return MakeIndexedLayer(tar.Finish(), {.span_size = 64 << 10, .block_size = 16 << 10});
    }();
    return layer;
  }
  // Every span that is present reads as the tar has it.
  static void ExpectRightWherePresent(LayerStore& store, const IndexedLayer& layer) {
    for (uint32_t i = 0; i < layer.table->span_count(); ++i) {
      if (!store.IsPresent(SpanId{i})) continue;
      const UncompressedRange range = layer.table->Extent(SpanId{i}).uncompressed;
      std::string bytes(range.size(), '\0');
      ASSERT_TRUE(store.ReadTar(range, std::as_writable_bytes(std::span(bytes))).ok()) << "span " << i;
      EXPECT_TRUE(bytes == layer.tar.substr(range.begin, range.size())) << "span " << i;
    }
  }
};

TEST_F(CacheLimitTest, WhatIsOnTheDiskIsNeverAboveTheLimit) {
  CacheLimit limit(512_KiB);
  const auto store = OpenUnder(limit, Large());
  for (int round = 0; round < 3; ++round) {
    for (const SpanId span : test::ShuffledSpans(Large(), static_cast<uint32_t>(round))) {
      ASSERT_TRUE(Put(*store, Large(), span).ok());
      EXPECT_TRUE(store->IsPresent(span));
      EXPECT_LE(limit.figures().held, 512_KiB);
      EXPECT_LE(BytesOnDisk(root_ / "one"), limit.figures().held);
    }
    ExpectRightWherePresent(*store, Large());
  }
  EXPECT_GT(limit.figures().evicted, Large().table->span_count());
  EXPECT_GT(store->present_count(), 2u);
}

TEST_F(CacheLimitTest, BlocksThatSpansShareGoWithTheLastOfThem) {
  CacheLimit limit(16_MiB);
  const IndexedLayer layer = MakeIndexedLayer(TarBuilder().File("f", NoiseBytes(600'001, 5)).Finish(),
                                              {.span_size = 64 << 10, .block_size = 16 << 10});
  {
    const auto store = OpenUnder(limit, layer);
    ASSERT_TRUE(PutAll(*store, layer).ok());
    ASSERT_TRUE(store->Close().ok());
  }
  CacheLimit nothing(1);
  const auto store = OpenUnder(nothing, layer);
  EXPECT_EQ(store->present_count(), 0u);
  struct stat attributes {};
  const InodeId file = *layer.table->Lookup(InodeId::kRoot, "f");
  const LayerFolder folder(root_ / "one", layer.table);
  ASSERT_EQ(::stat(folder.BackingFile(layer.table->Attributes(file)->content.begin).c_str(), &attributes), 0);
  EXPECT_EQ(attributes.st_blocks, 0);
}

TEST_F(CacheLimitTest, ALimitThatIsNewOrLowerIsKeptFromTheNextStartOn) {
  ASSERT_TRUE(PutAll(*Open(Large()), Large()).ok());
  CacheLimit limit(512_KiB);
  auto store =
      LayerStore::Open(folder_, Large().table, files_, {.before_step = {}, .boot = ThisBoot(), .limit = &limit});
  ASSERT_TRUE(store.ok());
  EXPECT_GT((*store)->present_count(), 2u);
  EXPECT_LE(limit.figures().held, 512_KiB);
  EXPECT_LE(BytesOnDisk(folder_), limit.figures().held);
  ExpectRightWherePresent(**store, Large());
}

TEST_F(CacheLimitTest, ASpanThatFindsNoRoomIsServedAndNotKept) {
  CacheLimit limit(8_KiB);
  const auto store = OpenUnder(limit, Large());
  ASSERT_TRUE(PutAll(*store, Large()).ok());
  EXPECT_EQ(store->present_count(), 0u);
  EXPECT_EQ(limit.figures().refused, Large().table->span_count());
  EXPECT_EQ(BytesOnDisk(root_ / "one"), 0u);
}

TEST_F(CacheLimitTest, APinnedSpanStaysAndTheOthersGo) {
  CacheLimit limit(512_KiB);
  const auto store = OpenUnder(limit, Large());
  ASSERT_TRUE(Put(*store, Large(), SpanId{3}).ok());
  auto pin = store->Pin(SpanId{3});
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(PutAll(*store, Large()).ok());
  EXPECT_TRUE(store->IsPresent(SpanId{3}));
  pin.reset();
  for (int i = 0; i < 3; ++i) {
    for (uint32_t span = 4; span < Large().table->span_count(); ++span) {
      ASSERT_TRUE(Put(*store, Large(), SpanId{span}).ok());
    }
  }
  EXPECT_FALSE(store->IsPresent(SpanId{3}));
}

TEST_F(CacheLimitTest, APinMayOutliveItsLayer) {
  CacheLimit limit(512_KiB);
  auto store = OpenUnder(limit, Large());
  const auto pin = store->Pin(SpanId{3});
  store.reset();
}

TEST_F(CacheLimitTest, AnEvictedSpanDoesNotComeBackWithTheNextProcess) {
  for (const bool clean : {true, false}) {
    SCOPED_TRACE(clean);
    const std::string name = clean ? "clean" : "killed";
    std::vector<bool> present;
    {
      CacheLimit limit(512_KiB);
      const auto store = OpenUnder(limit, Large(), name);
      for (int i = 0; i < 2; ++i) ASSERT_TRUE(PutAll(*store, Large()).ok());
      for (uint32_t i = 0; i < Large().table->span_count(); ++i) present.push_back(store->IsPresent(SpanId{i}));
      if (clean) {
        ASSERT_TRUE(store->Close().ok());
      }
    }
    CacheLimit limit(512_KiB);
    const auto store = OpenUnder(limit, Large(), name);
    for (uint32_t i = 0; i < present.size(); ++i) EXPECT_EQ(store->IsPresent(SpanId{i}), present[i]) << i;
    EXPECT_LE(BytesOnDisk(root_ / name), limit.figures().held);
    ExpectRightWherePresent(*store, Large());
    for (uint32_t i = 0; i < present.size(); ++i) EXPECT_EQ(store->IsPresent(SpanId{i}), present[i]) << i;
  }
}

TEST_F(CacheLimitTest, TheResidueOfASpanThatComesAgainTakesNoMoreRoom) {
  CacheLimit limit(512_KiB);
  uint64_t size = 0;
  for (int process = 0; process < 3; ++process) {
    const auto store = OpenUnder(limit, Large());
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(PutAll(*store, Large()).ok());
    ASSERT_TRUE(store->Close().ok());
    const uint64_t now = std::filesystem::file_size(root_ / "one/residue");
    EXPECT_TRUE(process == 0 || now == size) << now;
    size = now;
  }
}

TEST_F(CacheLimitTest, AKillAtAnyStepLeavesNothingWrongAndNothingUncounted) {
  bool killed = true;
  for (int at = 1; killed; at += at < 40 ? 3 : 29) {
    SCOPED_TRACE(at);
    const std::string name = "killed" + std::to_string(at);
    const pid_t child = ::fork();
    if (child == 0) {
      CacheLimit limit(300_KiB);
      LayerStoreOptions options;
      options.before_step = [left = at]() mutable {
        if (--left == 0) ::kill(::getpid(), SIGKILL);
      };
      const auto store = OpenUnder(limit, Large(), name, options);
      ::_exit(PutAll(*store, Large()).ok() ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    killed = WIFSIGNALED(status);
    ASSERT_TRUE(killed || WEXITSTATUS(status) == 0);
    CacheLimit limit(300_KiB);
    const auto store = OpenUnder(limit, Large(), name);
    EXPECT_LE(BytesOnDisk(root_ / name), limit.figures().held);
    ExpectRightWherePresent(*store, Large());
    ASSERT_TRUE(PutAll(*store, Large(), 3).ok());
    EXPECT_LE(BytesOnDisk(root_ / name), 300_KiB);
    ExpectRightWherePresent(*store, Large());
    std::filesystem::remove_all(root_ / name);
  }
}

TEST_F(CacheLimitTest, ALayerThatFitsIsKeptWholeAndSealed) {
  CacheLimit limit(6_MiB);
  const auto store = OpenUnder(limit, Large());
  EXPECT_TRUE(store->kept_lazy());
  EXPECT_EQ(store->Seal({.diff_id = Large().diff_id, .read_tail = {}, .stop = {}}).code(),
            absl::StatusCode::kFailedPrecondition);
  ASSERT_TRUE(Put(*store, Large(), SpanId{5}).ok());
  ASSERT_TRUE(store->KeepWhole());
  EXPECT_FALSE(store->kept_lazy());
  const uint64_t reserved = limit.figures().held;
  ASSERT_TRUE(PutAll(*store, Large()).ok());
  EXPECT_EQ(limit.figures().held, reserved);
  EXPECT_LE(BytesOnDisk(root_ / "one"), reserved);
  EXPECT_EQ(limit.figures().evicted, 0u);
  ASSERT_TRUE(store->Seal({.diff_id = Large().diff_id, .read_tail = {}, .stop = {}}).ok());
  EXPECT_EQ(limit.figures().held, reserved);
}

TEST_F(CacheLimitTest, WholeLayersTakeThreeQuartersAndGiveThemBackWhenTheyGo) {
  CacheLimit limit(9_MiB);
  auto first = OpenUnder(limit, Large(), "one");
  auto second = OpenUnder(limit, Large(), "two");
  auto third = OpenUnder(limit, Large(), "three");
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(PutAll(*third, Large()).ok());
  EXPECT_TRUE(first->KeepWhole());
  EXPECT_TRUE(second->KeepWhole());
  EXPECT_FALSE(third->KeepWhole());
  EXPECT_TRUE(third->kept_lazy());
  EXPECT_LE(limit.figures().held, 9_MiB);
  first.reset();
  EXPECT_TRUE(third->KeepWhole());
  EXPECT_LE(limit.figures().held, 9_MiB);
  ExpectRightWherePresent(*third, Large());
  second.reset();
  third.reset();
  EXPECT_EQ(limit.figures().held, 0u);
}

TEST_F(CacheLimitTest, RoomAheadIsHalfOfTheLimitLessWhatNobodyHasRead) {
  CacheLimit limit(1_MiB);
  const auto store = OpenUnder(limit, Large());
  EXPECT_EQ(store->RoomAhead(), 512_KiB);
  ASSERT_TRUE(Put(*store, Large(), SpanId{1}).ok());
  const uint64_t less = store->RoomAhead();
  EXPECT_LE(less, 512_KiB - Large().table->Extent(SpanId{1}).uncompressed.size());
  store->NoteRead(SpanId{1});
  EXPECT_EQ(store->RoomAhead(), 512_KiB);
}

TEST_F(CacheLimitTest, DamageThatWasFoundIsNotForgottenByACleanStop) {
  const IndexedLayer layer = MakeIndexedLayer(SampleTar().Finish());
  { ASSERT_TRUE(PutAll(*Open(layer), layer).ok()); }  // no Close
  const InodeId file = *layer.table->Lookup(InodeId::kRoot, "last");
  const UncompressedRange content = layer.table->Attributes(file)->content;
  const LayerFolder folder(folder_, layer.table);
  {
    const UniqueFd damaged = *OpenFile(folder.BackingFile(content.begin), O_WRONLY);
    ASSERT_TRUE(WriteFullAt(damaged.get(), 100, AsBytes("damaged"), "test").ok());
  }
  {
    const auto store = Open(layer);
    ExpectFindsDamage(*store, layer, file);
    for (uint32_t i = 0; i < layer.table->span_count(); ++i) {
      const UncompressedRange range = layer.table->Extent(SpanId{i}).uncompressed;
      std::string bytes(range.size(), '\0');
      (void)store->ReadTar(range, std::as_writable_bytes(std::span(bytes)));
    }
    ASSERT_TRUE(store->Close().ok());
  }
  const auto store = Open(layer);
  ExpectFindsDamage(*store, layer, file);
}

// Readers on all files, writers that bring spans back in any order, a limit that is far too small: what a read gives is
// right, or it says that it is not there.
TEST_F(CacheLimitTest, ReadersNeverSeeAHoleWhileSpansComeAndGo) {
  CacheLimit limit(400_KiB);
  const IndexedLayer& layer = Large();
  std::vector<std::unique_ptr<LayerStore>> stores;
  for (const char* name : {"one", "two"}) stores.push_back(OpenUnder(limit, layer, name));
  std::vector<InodeId> files;
  for (uint64_t number = 1; number <= layer.table->inode_count(); ++number) {
    const auto attributes = layer.table->Attributes(InodeId{number});
    if (S_ISREG(attributes->mode) && attributes->size > 0) files.push_back(InodeId{number});
  }
  std::atomic<bool> stop = false;
  std::atomic<uint64_t> right = 0, gone = 0, wrong = 0, errors = 0;
  std::vector<std::thread> readers;
  for (uint32_t reader = 0; reader < 4; ++reader) {
    readers.emplace_back([&, reader] {
      std::mt19937 random(reader);
      std::string bytes(150'000, '\0');
      while (!stop) {
        LayerStore& store = *stores[random() % stores.size()];
        const InodeId file = files[random() % files.size()];
        const InodeAttributes attributes = *layer.table->Attributes(file);
        const uint64_t offset = random() % attributes.size;
        const size_t size = random() % 4 == 0 ? bytes.size() : 1 + random() % 8'000;
        const auto count =
            store.ReadFile(file, offset, std::as_writable_bytes(std::span(bytes).first(size)), random() % 2 == 0);
        if (count.ok()) {
          const bool same = std::string_view(bytes).substr(0, *count) ==
                            std::string_view(layer.tar).substr(attributes.content.begin + offset, *count);
          ++(same ? right : wrong);
        } else {
          const bool expected = absl::IsFailedPrecondition(count.status()) || absl::IsUnavailable(count.status());
          ++(expected ? gone : errors);
        }
      }
    });
  }
  std::vector<std::thread> writers;
  for (size_t writer = 0; writer < stores.size(); ++writer) {
    writers.emplace_back([&, writer] {
      for (uint32_t round = 0; round < 25; ++round) {
        for (const SpanId span : test::ShuffledSpans(layer, round * 2 + static_cast<uint32_t>(writer))) {
          if (!Put(*stores[writer], layer, span).ok()) ++errors;
          if (limit.figures().held > 400_KiB) ++errors;
        }
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  stop = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(wrong, 0u);
  EXPECT_EQ(errors, 0u);
  EXPECT_GT(right, 0u);
  EXPECT_GT(gone, 0u);
  EXPECT_GT(limit.figures().evicted, 500u);
  uint64_t on_disk = 0;
  for (const char* name : {"one", "two"}) on_disk += BytesOnDisk(root_ / name);
  EXPECT_LE(on_disk, limit.figures().held);
  for (const auto& store : stores) ExpectRightWherePresent(*store, layer);
}

// Random histories of writes, reads, pins, layers that close and open again, become whole or are killed, against a
// model that knows only what was promised.
TEST_F(CacheLimitTest, AnyHistoryKeepsTheLimitAndTheBytes) {
  const IndexedLayer& layer = Large();
  for (uint32_t seed = 0; seed < 6; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const uint64_t bytes = 300_KiB + random() % 4_MiB;
    CacheLimit limit(bytes);
    std::map<std::string, std::unique_ptr<LayerStore>> stores;
    const std::vector<std::string> names = {"a" + std::to_string(seed), "b" + std::to_string(seed),
                                            "c" + std::to_string(seed)};
    std::vector<std::shared_ptr<const void>> pins;
    for (int step = 0; step < 600; ++step) {
      const std::string& name = names[random() % names.size()];
      auto& store = stores[name];
      if (store == nullptr) store = OpenUnder(limit, layer, name);
      const SpanId span{static_cast<uint32_t>(random() % layer.table->span_count())};
      const unsigned action = random() % 100;
      if (action < 70) {
        ASSERT_TRUE(Put(*store, layer, span).ok());
      } else if (action < 90) {
        store->NoteRead(span);
      } else if (action < 94) {
        pins.push_back(store->Pin(span));
        if (pins.size() > 3) pins.erase(pins.begin());
      } else if (action < 96) {
        (void)store->KeepWhole();
      } else {
        if (random() % 2 == 0) {
          ASSERT_TRUE(store->Close().ok());
        }
        store.reset();
      }
      ASSERT_LE(limit.figures().held, bytes);
      if (step % 20 != 0) continue;
      uint64_t on_disk = 0;
      for (const auto& [folder, open] : stores) {
        if (open != nullptr) on_disk += BytesOnDisk(root_ / folder);
      }
      ASSERT_LE(on_disk, limit.figures().held);
    }
    for (const auto& [folder, open] : stores) {
      if (open != nullptr) ExpectRightWherePresent(*open, layer);
    }
  }
}

}  // namespace
}  // namespace soci
