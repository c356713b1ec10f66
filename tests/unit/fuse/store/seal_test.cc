// A complete layer becomes an ordinary directory: exactly, once, and whatever interrupts it.
#include <fcntl.h>
#include <sys/wait.h>

#include <filesystem>

#include "tests/unit/fuse/store/store_fixture.h"

namespace soci {
namespace {

using test::IndexedLayer;
using test::MakeIndexedLayer;
using test::NoiseBytes;
using test::SampleTar;
using test::TarBuilder;
using ::testing::HasSubstr;

class SealTest : public test::StoreTest {
 protected:
  // The layer is written and sealed, and its store closed; it is not settled.
  void SealInAnEarlierProcess(const IndexedLayer& layer) {
    const auto store = Open(layer);
    ASSERT_TRUE(PutAll(*store, layer).ok());
    ASSERT_TRUE(store->Seal({.diff_id = layer.diff_id}).ok());
  }
};

TEST_F(SealTest, TheSealedFolderIsTheLayerAndNothingElseIsLeft) {
  for (const Compression compression : {Compression::kGzip, Compression::kUncompressed}) {
    (void)RemoveTree(folder_);
    const IndexedLayer layer = MakeIndexedLayer(SampleTar().Finish(), {.compression = compression});
    const auto store = Open(layer);
    ASSERT_TRUE(PutAll(*store, layer).ok());
    const Status status = store->Seal({.diff_id = layer.diff_id});
    ASSERT_TRUE(status.ok()) << status;
    ExpectSealed(*store, layer);
    EXPECT_TRUE(store->unsettled());
    ASSERT_TRUE(store->Settle().ok());
    EXPECT_FALSE(store->unsettled());
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
    ExpectAllReadable(*store, layer);
    EXPECT_TRUE(store->Seal({.diff_id = layer.diff_id}).ok());
  }
}

TEST_F(SealTest, WhatComesInOrderOrFillsHolesInOrderLeavesNothingToHash) {
  for (const uint32_t first : {1u, 2u, 3u, 5u}) {  // each so many of the spans come before all others
    (void)RemoveTree(folder_);
    const IndexedLayer layer = MakeIndexedLayer(SampleTar().Finish());
    const auto store = Open(layer);
    for (uint32_t i = 0; i < layer.table->span_count(); i += first) ASSERT_TRUE(Put(*store, layer, SpanId{i}).ok());
    while (const auto missing = store->NextMissing(SpanId{0})) ASSERT_TRUE(Put(*store, layer, *missing).ok());
    EXPECT_EQ(store->hashed_bytes(), layer.table->uncompressed_size()) << first;
    EXPECT_EQ(store->read_back_bytes() == 0, first == 1) << first;
  }
}

TEST_F(SealTest, WhatWasReadAtRandomIsHashedWhileFillGoesOn) {
  const IndexedLayer layer = MakeIndexedLayer(SampleTar().Finish());
  const uint32_t count = layer.table->span_count();
  ASSERT_GT(count, 20u);
  const auto store = Open(layer);
  const std::vector<SpanId> shuffled = ShuffledSpans(layer, 3);
  for (uint32_t i = 0; i < count / 3; ++i) ASSERT_TRUE(Put(*store, layer, shuffled[i]).ok());
  SpanId last{};
  while (const auto missing = store->NextMissing(SpanId{0})) ASSERT_TRUE(Put(*store, layer, last = *missing).ok());
  // Four are read back beside each that is written.
  const SpanId hashed{std::min(count, ToIndex(last) + 5)};
  EXPECT_GE(store->hashed_bytes(), hashed == SpanId{count} ? layer.table->uncompressed_size()
                                                           : layer.table->Extent(hashed).uncompressed.begin);
}

TEST_F(SealTest, FilesAreReadableInAnotherProcessAfterwards) {
  const IndexedLayer layer = MakeIndexedLayer(SampleTar().Finish());
  ASSERT_NO_FATAL_FAILURE(SealInAnEarlierProcess(layer));
  const auto store = Open(layer);
  EXPECT_TRUE(store->sealed());
  EXPECT_TRUE(store->complete());
  ExpectAllReadable(*store, layer);
}

LayerStoreOptions AfterAPowerLoss() {
  LayerStoreOptions options;
  options.boot[0] ^= std::byte{1};
  return options;
}

TEST_F(SealTest, ALayerThatWasSettledIsSealedInEveryLaterBoot) {
  const IndexedLayer layer = MakeIndexedLayer(SampleTar().Finish());
  ASSERT_NO_FATAL_FAILURE(SealInAnEarlierProcess(layer));
  {
    const auto store = Open(layer);
    EXPECT_TRUE(store->sealed());
    EXPECT_TRUE(store->unsettled()) << "an earlier process had no time for it";
    ASSERT_TRUE(store->Settle().ok());
  }
  const auto store = Open(layer, AfterAPowerLoss());
  ExpectSealed(*store, layer);
  EXPECT_FALSE(store->unsettled());
}

// What a power loss may do to files whose bytes and names were not on the disk yet.
TEST_F(SealTest, ALayerThatWasNotSettledBeforeAPowerLossIsVerifiedAndMendedAndSealedAgain) {
  const IndexedLayer layer = MakeIndexedLayer(SampleTar().Finish());
  const auto seal = [&](LayerStore& store) { return store.Seal({.diff_id = layer.diff_id}); };
  {
    const auto store = Open(layer);
    ASSERT_TRUE(PutAll(*store, layer).ok());
    ASSERT_TRUE(seal(*store).ok());
    const std::string tree = store->sealed_path();
    ASSERT_EQ(::truncate((tree + "/d/big").c_str(), 0), 0);
    ASSERT_EQ(::truncate((tree + "/d/big").c_str(), 60'000), 0);
    for (const char* name : {"/last", "/link", "/d/small7"}) ASSERT_EQ(::unlink((tree + name).c_str()), 0);
  }
  const auto store = Open(layer, AfterAPowerLoss());
  EXPECT_FALSE(store->sealed());
  EXPECT_TRUE(store->complete());
  size_t fetched = 0;
  Status sealed = seal(*store);
  while (sealed.code() == absl::StatusCode::kFailedPrecondition) {
    const auto missing = store->NextMissing(SpanId{0});
    ASSERT_TRUE(missing);
    ASSERT_TRUE(Put(*store, layer, *missing).ok());
    ++fetched;
    sealed = seal(*store);
  }
  ASSERT_TRUE(sealed.ok()) << sealed;
  EXPECT_LT(fetched, layer.table->span_count());
  ExpectSealed(*store, layer);
  ExpectAllReadable(*store, layer);
}

TEST_F(SealTest, ALayerThatAPowerLossSparedIsSealedAgainWithoutFetching) {
  const IndexedLayer layer = MakeIndexedLayer(SampleTar().Finish());
  ASSERT_NO_FATAL_FAILURE(SealInAnEarlierProcess(layer));
  const auto store = Open(layer, AfterAPowerLoss());
  EXPECT_FALSE(store->sealed());
  ExpectAllReadable(*store, layer);
  const Status sealed = store->Seal({.diff_id = layer.diff_id});
  ASSERT_TRUE(sealed.ok()) << sealed;
  ExpectSealed(*store, layer);
}

TEST_F(SealTest, DevicesOwnersAndXattrsAreMade) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  const IndexedLayer layer = MakeIndexedLayer(
      TarBuilder()
          .File("setuid", "x", {.mode = 04755, .uid = 7, .gid = 8})
          .File("capable", "x",
                {.mode = 0755,
                 .uid = 9,
                 .xattrs = {{"security.capability", std::string("\1\0\0\2\0\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 20)},
                            {"user.note", ""}}})
          .CharDevice("dev/null", 1, 3, {.mode = 0666})
          .BlockDevice("dev/disk", 259, 70'000, {.mode = 0660, .gid = 6})
          .Fifo("fifo", {.mode = 0600, .mtime_nanoseconds = 1})
          .Symlink("owned", "nowhere", {.mode = 0777, .uid = 3})
          .HardLink("owned2", "owned", {.mode = 0777, .uid = 4})
          .File("gone/.wh.name", "", {.uid = 2})
          .File("gone/.wh..wh..opq", "")
          .Directory("sticky", {.mode = 01777})
          .Directory("setgid", {.mode = 02755, .gid = 50})
          .Finish());
  const auto store = Open(layer);
  ASSERT_TRUE(PutAll(*store, layer).ok());
  const Status status = store->Seal({.diff_id = layer.diff_id});
  ASSERT_TRUE(status.ok()) << status;
  ExpectSealed(*store, layer);
}

TEST_F(SealTest, PaddingAfterTheArchiveCountsForTheDiffId) {
  for (const size_t padding : {size_t{512}, size_t{7'680}, size_t{300'000}, size_t{1'000'003}}) {
    (void)RemoveTree(folder_);
    const IndexedLayer layer = MakeIndexedLayer(SampleTar().Finish(padding), {.span_size = 1 << 20, .block_size = 0});
    ASSERT_LT(layer.table->uncompressed_size(), layer.tar.size());
    const auto store = Open(layer);
    ASSERT_TRUE(PutAll(*store, layer).ok());
    bool asked = false;
    const SealRequest request{.diff_id = layer.diff_id,
                              .read_tail =
                                  [&](const auto& sink) {
                                    asked = true;
                                    return sink(AsBytes(layer.tar).subspan(layer.table->uncompressed_size()));
                                  },
                              .stop = {}};
    const Status status = store->Seal(request);
    EXPECT_TRUE(status.ok()) << padding << ": " << status;
    EXPECT_EQ(asked, padding % 512 != 0);
  }
}

TEST_F(SealTest, OtherBytesAfterTheArchiveAreAskedFor) {
  const IndexedLayer layer =
      MakeIndexedLayer(SampleTar().Finish() + NoiseBytes(3'000, 9), {.span_size = 1 << 20, .block_size = 0});
  const auto store = Open(layer);
  ASSERT_TRUE(PutAll(*store, layer).ok());
  EXPECT_EQ(store->Seal({.diff_id = layer.diff_id}).code(), absl::StatusCode::kUnavailable);
  SealRequest request{.diff_id = layer.diff_id, .read_tail = {}, .stop = {}};
  request.read_tail = [&](const auto&) -> Status { return absl::DataLossError("no network"); };
  EXPECT_EQ(store->Seal(request).code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(store->condemned().ok());
  request.read_tail = [&](const auto& sink) {
    return sink(AsBytes(layer.tar).subspan(layer.table->uncompressed_size()));
  };
  EXPECT_TRUE(store->Seal(request).ok());
}

TEST_F(SealTest, AWrongDiffIdCondemnsTheLayer) {
  const IndexedLayer layer = MakeIndexedLayer(SampleTar().Finish());
  const auto store = Open(layer);
  ASSERT_TRUE(PutAll(*store, layer).ok());
  const SealRequest request{.diff_id = oci::DiffId(oci::Digest::Of("other")),
                            .read_tail = [](const auto&) { return OkStatus(); },
                            .stop = {}};
  EXPECT_TRUE(absl::IsDataLoss(store->Seal(request)));
  EXPECT_TRUE(absl::IsDataLoss(store->condemned()));
  EXPECT_FALSE(store->sealed());
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/fs"));
}

TEST_F(SealTest, AnIncompleteLayerIsNotSealed) {
  const IndexedLayer layer = MakeIndexedLayer(SampleTar().Finish());
  const auto store = Open(layer);
  ASSERT_TRUE(Put(*store, layer, SpanId{1}).ok());
  EXPECT_EQ(store->Seal({.diff_id = layer.diff_id}).code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(SealTest, SpansThatTurnOutDamagedAreFetchedAgainBeforeSealing) {
  const IndexedLayer layer = MakeIndexedLayer(SampleTar().Finish());
  { ASSERT_TRUE(PutAll(*Open(layer), layer).ok()); }
  const LayerFolder folder(folder_, layer.table);
  const InodeId big = *layer.table->Lookup(InodeId::kRoot, "hard");
  const uint64_t begin = layer.table->Attributes(big)->content.begin;
  UniqueFd file = *OpenFile(folder.BackingFile(begin), O_RDWR);
  ASSERT_TRUE(WriteFullAt(file.get(), 20'000, ByteBuffer(100), "file").ok());

  const auto store = Open(layer);
  EXPECT_EQ(store->Seal({.diff_id = layer.diff_id}).code(), absl::StatusCode::kFailedPrecondition);
  const SpanId missing = *store->NextMissing(SpanId{0});
  EXPECT_EQ(missing, layer.table->SpanAt(begin + 20'000));
  ASSERT_TRUE(Put(*store, layer, missing).ok());
  const Status status = store->Seal({.diff_id = layer.diff_id});
  EXPECT_TRUE(status.ok()) << status;
  ExpectSealed(*store, layer);
}

TEST_F(SealTest, AStopIsObeyedAndTheNextCallGoesOn) {
  const IndexedLayer layer = MakeIndexedLayer(SampleTar().Finish());
  std::stop_source stop;
  int steps = 0;
  const auto store = Open(layer, {.before_step = [&] {
                            if (++steps == 20) stop.request_stop();
                          }});
  ASSERT_TRUE(PutAll(*store, layer).ok());
  steps = 0;
  SealRequest request{.diff_id = layer.diff_id, .read_tail = {}, .stop = {}};
  request.stop = stop.get_token();
  EXPECT_EQ(store->Seal(request).code(), absl::StatusCode::kCancelled);
  ExpectAllReadable(*store, layer);
  EXPECT_TRUE(store->Seal({.diff_id = layer.diff_id}).ok());
  ExpectSealed(*store, layer);
}

// The process is killed before its n-th step, for every n, in a child of its own; the parent then finishes the work.
TEST_F(SealTest, AKillAtAnyStepOfWritingOrSealingLosesNothing) {
  TarBuilder tar;
  const uint32_t uid = ::geteuid(), gid = ::getegid();
  tar.Directory("d", {.mode = 0555, .uid = uid, .gid = gid})
      .File("d/a", NoiseBytes(9'000, 1), {.uid = uid, .gid = gid});
  tar.File("b", "small", {.uid = uid, .gid = gid}).HardLink("c", "d/a", {.uid = uid, .gid = gid});
  tar.Symlink("s", "b", {.uid = uid, .gid = gid}).File("e", "", {.uid = uid, .gid = gid});
  const IndexedLayer layer = MakeIndexedLayer(tar.Finish());
  bool killed = true;
  int step = 0;
  while (killed) {
    ++step;
    ASSERT_LT(step, 500);
    (void)RemoveTree(folder_);
    const pid_t child = ::fork();
    if (child == 0) {
      int left = step;
      const auto store = Open(layer, {.before_step = [&] {
                                if (--left == 0) ::kill(::getpid(), SIGKILL);
                              }});
      const bool done =
          PutAll(*store, layer, 3).ok() && store->Seal({.diff_id = layer.diff_id}).ok() && store->Settle().ok();
      ::_exit(done ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    killed = WIFSIGNALED(status);
    ASSERT_TRUE(killed || WEXITSTATUS(status) == 0);

    const auto store = Open(layer);
    while (const auto missing = store->NextMissing(SpanId{0})) ASSERT_TRUE(Put(*store, layer, *missing).ok());
    ExpectAllReadable(*store, layer);
    const Status sealed = store->Seal({.diff_id = layer.diff_id});
    ASSERT_TRUE(sealed.ok()) << "killed before step " << step << ": " << sealed;
    ExpectSealed(*store, layer);
    ExpectAllReadable(*store, layer);
  }
  EXPECT_GT(step, 25);
}

TEST_F(SealTest, ReadersNoticeNothingOfTheSealing) {
  const IndexedLayer layer = MakeIndexedLayer(SampleTar().Finish());
  const auto store = Open(layer);
  ASSERT_TRUE(PutAll(*store, layer).ok());
  std::atomic<bool> over{false};
  std::thread reader([&] {
    while (!over) ExpectAllReadable(*store, layer);
  });
  const Status status = store->Seal({.diff_id = layer.diff_id});
  over = true;
  reader.join();
  EXPECT_TRUE(status.ok()) << status;
  ExpectAllReadable(*store, layer);
}

}  // namespace
}  // namespace soci
