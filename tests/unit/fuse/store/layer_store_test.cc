#include "fuse/store/layer_store.h"

#include <fcntl.h>
#include <sys/resource.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "indexer/table/table_compiler.h"
#include "tests/unit/fuse/store/store_fixture.h"
#include "tests/ztoc/ztoc_value.h"

namespace soci {
namespace {

using test::IndexedLayer;
using test::MakeIndexedLayer;
using test::NoiseBytes;
using test::SampleTar;
using test::ShuffledSpans;
using test::TarBuilder;
using ::testing::HasSubstr;

using LayerStoreTest = test::StoreTest;

TEST_F(LayerStoreTest, SpansWrittenInAnyOrderReadAsTheFilesOfTheTar) {
  const IndexedLayer layer = MakeIndexedLayer(SampleTar().Finish());
  const auto store = Open(layer);
  ASSERT_TRUE(PutAll(*store, layer).ok());
  EXPECT_TRUE(store->complete());
  EXPECT_FALSE(store->NextMissing(SpanId{0}));
  ExpectAllReadable(*store, layer);
}

TEST_F(LayerStoreTest, AFileIsReadableAsFarAsItsSpansArePresent) {
  const IndexedLayer layer = MakeIndexedLayer(TarBuilder().File("f", NoiseBytes(30'000, 1)).Finish());
  const auto store = Open(layer);
  const InodeId file = *layer.table->Lookup(InodeId::kRoot, "f");
  const uint64_t begin = layer.table->Attributes(file)->content.begin;
  ASSERT_TRUE(Put(*store, layer, SpanId{2}).ok());
  EXPECT_EQ(store->present_count(), 1u);
  EXPECT_EQ(store->NextMissing(SpanId{2}), SpanId{3});
  const UncompressedRange span = layer.table->Extent(SpanId{2}).uncompressed;
  std::string bytes(100, '\0');
  const auto out = std::as_writable_bytes(std::span(bytes));
  ASSERT_TRUE(store->ReadFile(file, span.end - begin - 100, out, true).ok());
  EXPECT_EQ(bytes, layer.tar.substr(span.end - 100, 100));
  EXPECT_EQ(store->ReadFile(file, span.end - begin - 99, out, true).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST_F(LayerStoreTest, ReadsEndAtTheEndOfTheFile) {
  const IndexedLayer layer = MakeIndexedLayer(TarBuilder().File("f", "0123456789").File("empty", "").Finish());
  const auto store = Open(layer);
  ASSERT_TRUE(PutAll(*store, layer).ok());
  std::string bytes(100, '\0');
  const auto out = std::as_writable_bytes(std::span(bytes));
  const InodeId file = *layer.table->Lookup(InodeId::kRoot, "f");
  EXPECT_EQ(*store->ReadFile(file, 4, out, true), 6u);
  EXPECT_EQ(bytes.substr(0, 6), "456789");
  EXPECT_EQ(*store->ReadFile(file, 10, out, true), 0u);
  EXPECT_EQ(*store->ReadFile(file, UINT64_MAX, out, true), 0u);
  EXPECT_EQ(*store->ReadFile(*layer.table->Lookup(InodeId::kRoot, "empty"), 0, out, false), 0u);
  EXPECT_EQ(store->ReadFile(InodeId::kRoot, 0, out, true).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(LayerStoreTest, ANonBlockingReadGivesTheBytesOrSaysThatItWouldBlock) {
  const IndexedLayer layer = MakeIndexedLayer(SampleTar().Finish());
  const auto store = Open(layer);
  ASSERT_TRUE(PutAll(*store, layer).ok());
  const InodeId file = *layer.table->Lookup(InodeId::kRoot, "last");
  std::string bytes(9'000, '\0');
  const auto out = std::as_writable_bytes(std::span(bytes));
  const auto count = store->ReadFile(file, 0, out, false);
  if (count.ok()) {
    EXPECT_EQ(bytes, NoiseBytes(9'000, 4));
  } else {
    EXPECT_EQ(count.status().code(), absl::StatusCode::kUnavailable);
  }
}

TEST_F(LayerStoreTest, AnotherProcessFindsEverythingAgain) {
  const IndexedLayer layer = MakeIndexedLayer(SampleTar().Finish());
  const std::vector<SpanId> spans = ShuffledSpans(layer, 5);
  {
    const auto store = Open(layer);
    for (size_t i = 0; i < spans.size() / 2; ++i) ASSERT_TRUE(Put(*store, layer, spans[i]).ok());
    ASSERT_TRUE(store->Close().ok());
  }
  const auto store = Open(layer);
  EXPECT_EQ(store->present_count(), spans.size() / 2);
  for (size_t i = 0; i < spans.size(); ++i) EXPECT_EQ(store->IsPresent(spans[i]), i < spans.size() / 2);
  for (size_t i = spans.size() / 2; i < spans.size(); ++i) ASSERT_TRUE(Put(*store, layer, spans[i]).ok());
  ExpectAllReadable(*store, layer);
}

TEST_F(LayerStoreTest, ReadTarGivesTheLayerBackIncludingWhatIsNoFile) {
  const IndexedLayer layer = MakeIndexedLayer(SampleTar().Finish());
  const auto store = Open(layer);
  ASSERT_TRUE(PutAll(*store, layer).ok());
  std::string bytes(layer.table->uncompressed_size(), '\0');
  ASSERT_TRUE(store->ReadTar({0, bytes.size()}, std::as_writable_bytes(std::span(bytes))).ok());
  EXPECT_TRUE(bytes == layer.tar.substr(0, bytes.size()));
}

TEST_F(LayerStoreTest, DamageAfterAnUncleanStopIsFoundOnFirstUse) {
  const IndexedLayer layer = MakeIndexedLayer(SampleTar().Finish());
  { ASSERT_TRUE(PutAll(*Open(layer), layer).ok()); }  // no Close
  const InodeId file = *layer.table->Lookup(InodeId::kRoot, "last");
  const UncompressedRange content = layer.table->Attributes(file)->content;
  const LayerFolder folder(folder_, layer.table);
  std::filesystem::resize_file(folder.BackingFile(content.begin), content.size() - 1);

  const auto store = Open(layer);
  EXPECT_TRUE(store->complete());
  std::string bytes(content.size(), '\0');
  const auto out = std::as_writable_bytes(std::span(bytes));
  EXPECT_EQ(store->ReadFile(file, 0, out, false).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(store->ReadFile(file, 0, out, true).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_FALSE(store->complete());
  const SpanId missing = *store->NextMissing(SpanId{0});
  EXPECT_EQ(missing, layer.table->SpanAt(content.end - 1));
  ASSERT_TRUE(Put(*store, layer, missing).ok());
  EXPECT_EQ(ReadAll(*store, layer, file), NoiseBytes(9'000, 4));
}

TEST_F(LayerStoreTest, AnOrderlyEndNeedsNoChecksUnlessTheMachineWentDownSince) {
  const IndexedLayer layer = MakeIndexedLayer(SampleTar().Finish());
  const auto write_and_close = [&](LayerStoreOptions options) {
    const auto store = Open(layer, std::move(options));
    ASSERT_TRUE(PutAll(*store, layer).ok());
    ASSERT_TRUE(store->Close().ok());
  };
  const InodeId file = *layer.table->Lookup(InodeId::kRoot, "last");
  std::string bytes(layer.table->Attributes(file)->size, '\0');
  const auto out = std::as_writable_bytes(std::span(bytes));
  LayerStoreOptions other;
  other.boot[0] ^= std::byte{1};

  write_and_close({});
  EXPECT_TRUE(Open(layer)->ReadFile(file, 0, out, false).ok());
  // What has to be checked first is nothing for a thread that must not wait.
  EXPECT_EQ(Open(layer, other)->ReadFile(file, 0, out, false).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(Open(layer, other)->ReadFile(file, 0, out, true).ok());
}

TEST_F(LayerStoreTest, ABackingFileCutWhileWeRunIsFoundWhenItIsRead) {
  const IndexedLayer layer = MakeIndexedLayer(SampleTar().Finish());
  const auto store = Open(layer);
  ASSERT_TRUE(PutAll(*store, layer).ok());
  const InodeId file = *layer.table->Lookup(InodeId::kRoot, "last");
  const LayerFolder folder(folder_, layer.table);
  std::filesystem::resize_file(folder.BackingFile(layer.table->Attributes(file)->content.begin), 10);
  EXPECT_THAT(ReadAll(*store, layer, file), HasSubstr("is not present"));
  while (const auto missing = store->NextMissing(SpanId{0})) ASSERT_TRUE(Put(*store, layer, *missing).ok());
  EXPECT_EQ(ReadAll(*store, layer, file), NoiseBytes(9'000, 4));
}

TEST_F(LayerStoreTest, DamagedRecordsCountAsAbsent) {
  const IndexedLayer layer = MakeIndexedLayer(SampleTar().Finish());
  {
    const auto store = Open(layer);
    ASSERT_TRUE(PutAll(*store, layer).ok());
    ASSERT_TRUE(store->Close().ok());
  }
  std::string presence = *ReadFile(folder_ + "/presence");
  presence[88 + 24 * 3 + 8] ^= 1;
  ASSERT_TRUE(WriteFileAtomic(folder_ + "/presence", presence).ok());
  EXPECT_EQ(Open(layer)->NextMissing(SpanId{0}), SpanId{3});
  ASSERT_TRUE(WriteFileAtomic(folder_ + "/presence", presence.substr(0, 100)).ok());
  EXPECT_EQ(Open(layer)->present_count(), 0u);
}

TEST_F(LayerStoreTest, DataOfAnotherCutIntoSpansAreNotTakenOver) {
  const std::string tar = SampleTar().Finish();
  const IndexedLayer layer = MakeIndexedLayer(tar);
  { ASSERT_TRUE(PutAll(*Open(layer), layer).ok()); }
  test::Ztoc other = MakeIndexedLayer(tar, {.span_size = 8192}).ztoc;
  IndexedLayer same = layer;
  const auto bytes = CompileTable(other, layer.digest);
  same.table = *LayerTable::FromBytes(*bytes, layer.digest);
  const auto store = Open(same);
  EXPECT_EQ(store->present_count(), 0u);
  ASSERT_TRUE(PutAll(*store, same).ok());
  ExpectAllReadable(*store, same);
}

TEST_F(LayerStoreTest, ADescriptorLimitOf256IsEnough) {
  TarBuilder tar;
  for (int i = 0; i < 600; ++i) tar.File("f" + std::to_string(i), NoiseBytes(100, static_cast<uint32_t>(i)));
  const IndexedLayer layer = MakeIndexedLayer(tar.Finish());
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit small{256, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &small), 0);
  FdCache files;
  auto store = *LayerStore::Open(folder_, layer.table, files);
  const Status written = PutAll(*store, layer);
  if (written.ok()) ExpectAllReadable(*store, layer);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_TRUE(written.ok()) << written;
}

TEST_F(LayerStoreTest, AFullDiskIsAnErrorAndNothingIsLost) {
  const IndexedLayer layer = MakeIndexedLayer(TarBuilder().File("f", NoiseBytes(200'000, 1)).Finish());
  const auto store = Open(layer);
  ASSERT_TRUE(Put(*store, layer, SpanId{0}).ok());
  // No file may grow beyond this: the same error path as a full disk, for one process.
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old_handler = ::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{1000, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const Status status = store->WriteSpan(SpanId{1}, layer.Decoded(SpanId{1}));
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ::signal(SIGXFSZ, old_handler);
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(StatusErrno(status), EFBIG);
  EXPECT_FALSE(store->IsPresent(SpanId{1}));
  EXPECT_TRUE(store->IsPresent(SpanId{0}));
  ASSERT_TRUE(PutAll(*store, layer).ok());
  ExpectAllReadable(*store, layer);
}

TEST_F(LayerStoreTest, ManyThreadsMayWriteDifferentSpansAtOnce) {
  const IndexedLayer layer = MakeIndexedLayer(SampleTar().Finish());
  const auto store = Open(layer);
  const std::vector<SpanId> spans = ShuffledSpans(layer, 7);
  std::atomic<size_t> next{0};
  std::atomic<int> failed{0};
  std::vector<std::thread> writers;
  for (int i = 0; i < 4; ++i) {
    writers.emplace_back([&] {
      for (size_t at = next++; at < spans.size(); at = next++) failed += Put(*store, layer, spans[at]).ok() ? 0 : 1;
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(failed, 0);
  ExpectAllReadable(*store, layer);
  EXPECT_TRUE(store->Seal({.diff_id = layer.diff_id, .read_tail = {}, .stop = {}}).ok());
}

TEST_F(LayerStoreTest, ALayerWithoutBytesIsCompleteAtOnce) {
  const IndexedLayer layer = MakeIndexedLayer("");
  const auto store = Open(layer);
  EXPECT_TRUE(store->complete());
  ASSERT_TRUE(store->Seal({.diff_id = layer.diff_id}).ok());
  EXPECT_TRUE(store->sealed());
}

}  // namespace
}  // namespace soci
