// Reads of a lazy layer, over a real store and a fetcher in memory.
#include "fuse/layer/lazy_layer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <future>
#include <random>
#include <set>
#include <thread>

#include "fuse/layer/make_layer_reader.h"
#include "fuse/store/layer_store.h"
#include "indexer/base/thread_pool.h"
#include "tests/fakes/fake_layer_fetcher.h"
#include "tests/layers/indexed_layer.h"
#include "tests/support/tar_builder.h"
#include "tests/support/temporary_directory.h"

namespace soci {
namespace {

using test::FakeLayerFetcher;
using test::IndexedLayer;
using test::MakeIndexedLayer;
using test::NoiseBytes;
using test::TarBuilder;

// A store whose disk is always cold: no read without waiting ever works. Counts the reads that did wait.
class ColdStore : public BackingStore {
 public:
  explicit ColdStore(LayerStore& store) : store_(store) {}
  bool IsPresent(SpanId span) const override { return store_.IsPresent(span); }
  uint32_t present_count() const override { return store_.present_count(); }
  std::optional<SpanId> NextMissing(SpanId from) const override { return store_.NextMissing(from); }
  Status CheckSpan(SpanId span, ByteSpan decoded) override { return store_.CheckSpan(span, decoded); }
  Status WriteSpan(SpanId span, ByteSpan decoded) override { return store_.WriteSpan(span, decoded); }
  Result<size_t> ReadFile(InodeId file, uint64_t file_offset, MutableByteSpan out, bool may_block) override {
    if (before_read) before_read();
    auto count = store_.ReadFile(file, file_offset, out, true);
    if (!may_block && count.ok()) return absl::UnavailableError("cold");
    return count;
  }
  std::function<void()> before_read;

 private:
  LayerStore& store_;
};

class LazyLayerTest : public ::testing::Test {
 protected:
  LazyLayerTest() : layer_(MakeIndexedLayer(Tar())), fetcher_(layer_.table, AsBytes(layer_.tar)) {
    store_ = *LayerStore::Open(root_ / "layer", layer_.table, files_);
    cold_ = std::make_unique<ColdStore>(*store_);
    reader_ = MakeLayerReader(layer_.table, *store_, fetcher_, pool_);
    file_ = *layer_.table->Lookup(InodeId::kRoot, "file");
    content_ = layer_.table->Attributes(file_)->content;
  }
  static std::string Tar() {
    return TarBuilder()
        .File("file", NoiseBytes(100'000, 1))
        .File("small", "0123456789")
        .File("empty", "")
        .Symlink("s", "x")
        .Directory("d")
        .Finish();
  }
  void UseColdDisk() { reader_ = MakeLayerReader(layer_.table, *cold_, fetcher_, pool_); }
  void Write(SpanId span) { ASSERT_TRUE(store_->WriteSpan(span, layer_.Decoded(span)).ok()); }
  void WriteAll() {
    for (uint32_t i = 0; i < layer_.table->span_count(); ++i) Write(SpanId{i});
  }
  // Waits for the reply.
  Result<std::string> Read(InodeId file, uint64_t offset, size_t size) {
    auto promise = std::make_shared<std::promise<Result<std::string>>>();
    auto future = promise->get_future();
    reader_->Read(file, offset, size, [promise](Result<ByteSpan> bytes) {
      promise->set_value(bytes.ok() ? Result<std::string>(std::string(AsText(*bytes))) : bytes.status());
    });
    return future.get();
  }
  std::string Expected(uint64_t offset, size_t size) const {
    return layer_.tar.substr(content_.begin + offset, std::min<uint64_t>(size, content_.size() - offset));
  }

  const test::TemporaryDirectory root_;
  IndexedLayer layer_;
  FdCache files_;
  FakeLayerFetcher fetcher_;
  std::unique_ptr<LayerStore> store_;
  std::unique_ptr<ColdStore> cold_;
  ThreadPool pool_{"io", 2};
  std::unique_ptr<LayerReader> reader_;
  InodeId file_{};
  UncompressedRange content_;
};

TEST_F(LazyLayerTest, AbsentSpansAreFetchedAsDemandAndOnlyThoseOfTheRange) {
  EXPECT_EQ(*Read(file_, 20'000, 100), Expected(20'000, 100));
  ASSERT_EQ(fetcher_.asked().size(), 1u);
  EXPECT_EQ(fetcher_.asked()[0].first, layer_.table->SpanAt(content_.begin + 20'000));
  EXPECT_EQ(fetcher_.asked()[0].second, FetchClass::kDemand);
}

TEST_F(LazyLayerTest, AReadAcrossManySpansIsPutTogether) {
  EXPECT_TRUE(*Read(file_, 0, 200'000) == NoiseBytes(100'000, 1));
  EXPECT_GT(fetcher_.asked().size(), 10u);
  EXPECT_TRUE(*Read(file_, 77'777, 9'999) == Expected(77'777, 9'999));
}

TEST_F(LazyLayerTest, WhatIsOnTheDiskIsNotFetched) {
  WriteAll();
  EXPECT_TRUE(*Read(file_, 0, 200'000) == NoiseBytes(100'000, 1));
  UseColdDisk();
  EXPECT_TRUE(*Read(file_, 5, 50'000) == Expected(5, 50'000));
  EXPECT_TRUE(fetcher_.asked().empty());
}

TEST_F(LazyLayerTest, AReadOfWhichAPartIsOnTheDiskFetchesTheRest) {
  for (uint32_t i = 0; i < layer_.table->span_count(); i += 2) Write(SpanId{i});
  EXPECT_TRUE(*Read(file_, 0, 100'000) == NoiseBytes(100'000, 1));
  for (const auto& [span, fetch_class] : fetcher_.asked()) EXPECT_EQ(ToIndex(span) % 2, 1u);
}

TEST_F(LazyLayerTest, SpansThatWereWrittenMeanwhileAreReadFromTheDisk) {
  const SpanId span = layer_.table->SpanAt(content_.begin + 30'000);
  fetcher_.Break(span, absl::AlreadyExistsError("in the store"));
  cold_->before_read = [&] {
    if (!store_->IsPresent(span) && !fetcher_.asked().empty()) Write(span);
  };
  UseColdDisk();
  EXPECT_EQ(*Read(file_, 30'000, 10), Expected(30'000, 10));
}

TEST_F(LazyLayerTest, AStoreThatNeverHasWhatItSaysEndsTheReadWithEio) {
  const SpanId span = layer_.table->SpanAt(content_.begin + 30'000);
  fetcher_.Break(span, absl::AlreadyExistsError("in the store"));
  EXPECT_EQ(StatusErrno(Read(file_, 30'000, 10).status()), EIO);
}

TEST_F(LazyLayerTest, ReadsEndWithTheFile) {
  EXPECT_EQ(*Read(*layer_.table->Lookup(InodeId::kRoot, "small"), 4, 100), "456789");
  EXPECT_EQ(*Read(*layer_.table->Lookup(InodeId::kRoot, "small"), 10, 100), "");
  EXPECT_EQ(*Read(*layer_.table->Lookup(InodeId::kRoot, "small"), UINT64_MAX, 100), "");
  EXPECT_EQ(*Read(*layer_.table->Lookup(InodeId::kRoot, "empty"), 0, 100), "");
  EXPECT_EQ(*Read(file_, 5, 0), "");
}

TEST_F(LazyLayerTest, OnlyFilesHaveBytes) {
  EXPECT_EQ(StatusErrno(Read(InodeId{999}, 0, 1).status()), ESTALE);
  EXPECT_EQ(StatusErrno(Read(InodeId::kRoot, 0, 1).status()), EISDIR);
  EXPECT_EQ(StatusErrno(Read(*layer_.table->Lookup(InodeId::kRoot, "s"), 0, 1).status()), EINVAL);
}

TEST_F(LazyLayerTest, AFailureIsEioAndTheNextReadTriesAgain) {
  const SpanId span = layer_.table->SpanAt(content_.begin + 30'000);
  fetcher_.Break(span, absl::UnavailableError("connection reset"));
  const Status status = Read(file_, 0, 100'000).status();
  EXPECT_EQ(StatusErrno(status), EIO);
  EXPECT_THAT(std::string(Message(status)), ::testing::HasSubstr("connection reset"));
  EXPECT_EQ(*Read(file_, 0, 10), Expected(0, 10));
  fetcher_.Heal(span);
  EXPECT_TRUE(*Read(file_, 0, 100'000) == NoiseBytes(100'000, 1));
}

TEST_F(LazyLayerTest, ACondemnedLayerGivesEioForEverything) {
  WriteAll();
  std::string false_span(AsText(layer_.Decoded(SpanId{0})));
  false_span[0] ^= 1;
  ASSERT_TRUE(absl::IsDataLoss(store_->CheckSpan(SpanId{0}, AsBytes(false_span))));
  EXPECT_EQ(StatusErrno(Read(file_, 0, 10).status()), EIO);
}

TEST_F(LazyLayerTest, ReadersThatWaitWhenTheLayerIsClosedGetEioAndTouchNothing) {
  fetcher_.Hold();
  std::promise<Status> answered;
  reader_->Read(file_, 0, 100'000, [&](Result<ByteSpan> bytes) { answered.set_value(bytes.status()); });
  reader_.reset();
  store_.reset();
  fetcher_.Release();
  const Status status = answered.get_future().get();
  // All its spans came from memory, so the read may as well have been served.
  EXPECT_TRUE(status.ok() || StatusErrno(status) == EIO);
}

TEST_F(LazyLayerTest, AReplyMayReadAgain) {
  WriteAll();
  std::promise<std::string> answered;
  reader_->Read(file_, 0, 10, [&](Result<ByteSpan> first) {
    const std::string before(AsText(*first));
    reader_->Read(file_, 10, 10,
                  [&, before](Result<ByteSpan> second) { answered.set_value(before + std::string(AsText(*second))); });
  });
  EXPECT_EQ(answered.get_future().get(), Expected(0, 20));
}

TEST_F(LazyLayerTest, ManyReadersInRandomOrderAllSeeTheLayerWhileItIsBeingWritten) {
  UseColdDisk();
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (uint32_t seed = 0; seed < 4; ++seed) {
    threads.emplace_back([&, seed] {
      std::mt19937 random(seed);
      for (int i = 0; i < 200; ++i) {
        const uint64_t offset = random() % 100'000;
        const size_t size = 1 + random() % 20'000;
        const auto bytes = Read(file_, offset, size);
        if (!bytes.ok() || *bytes != Expected(offset, size)) ++wrong;
      }
    });
  }
  threads.emplace_back([&] { WriteAll(); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace soci
