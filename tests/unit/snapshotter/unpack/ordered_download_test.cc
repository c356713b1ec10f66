#include "snapshotter/unpack/ordered_download.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "fuse/fetch/fetch_scheduler.h"
#include "fuse/fetch/make_layer_fetcher.h"
#include "tests/fakes/fake_backing_store.h"
#include "tests/fakes/fake_byte_source.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_layer_table.h"
#include "tests/support/tar_builder.h"

namespace soci {
namespace {

using test::FakeByteSource;

std::string ReadAll(ByteStream& stream, Status& status) {
  std::string all;
  std::byte buffer[700];
  while (true) {
    const auto count = stream.Read(buffer);
    status = count.status();
    if (!count.ok() || *count == 0) return all;
    all += AsText(ByteSpan(buffer).first(*count));
  }
}

TEST(OrderedDownload, RangesThatEndInAnyOrderGiveTheBytesInOrder) {
  const std::string bytes = test::NoiseBytes(2'500, 1);
  FakeByteSource source(bytes);
  DownloadWindow window({.connections = 3, .range = 1'000, .ranges = 3});
  const auto stream = MakeOrderedDownload(source, {}, window);
  Status status;
  std::string got;
  std::thread reader([&] { got = ReadAll(*stream, status); });
  EXPECT_TRUE(source.WaitForReads(3));
  for (const size_t read : {2, 1, 0}) source.Finish(read);
  reader.join();
  EXPECT_EQ(status, OkStatus());
  EXPECT_TRUE(got == bytes);
}

TEST(OrderedDownload, NeverHoldsMoreRangesThanTheWindowHas) {
  FakeByteSource source(test::NoiseBytes(10'000, 2));
  DownloadWindow window({.connections = 8, .range = 1'000, .ranges = 2});
  const auto stream = MakeOrderedDownload(source, {}, window);
  Status status;
  std::thread reader([&] { ReadAll(*stream, status); });
  EXPECT_TRUE(source.WaitForReads(2));
  source.Finish(1);  // fetched, but not to be read before the first
  EXPECT_EQ(source.reads().size(), 2u);
  source.AnswerByItself();
  source.Finish(0);
  reader.join();
  EXPECT_EQ(status, OkStatus());
}

TEST(OrderedDownload, AFailedRangeFailsTheReadThatComesToIt) {
  FakeByteSource source(test::NoiseBytes(2'000, 3));
  DownloadWindow window({.connections = 2, .range = 1'000, .ranges = 2});
  const auto stream = MakeOrderedDownload(source, {}, window);
  Status status;
  std::string got;
  std::thread reader([&] { got = ReadAll(*stream, status); });
  EXPECT_TRUE(source.WaitForReads(2));
  source.Fail(1, absl::UnavailableError("gone"));
  source.Finish(0);
  reader.join();
  EXPECT_EQ(got.size(), 1'000u);
  EXPECT_TRUE(absl::IsUnavailable(status));
}

// A lazily loaded layer of another image, of the same registry.
class OrderedDownloadBesideReaders : public ::testing::Test {
 protected:
  OrderedDownloadBesideReaders() {
    table_->SetTar(test::NoiseBytes(1'000, 5), 100);
    LayerFetcherOptions options;
    options.host = "registry";
    fetcher_ = MakeLayerFetcher(scheduler_, table_, layer_, store_, options);
  }
  void Demand(uint32_t span) {
    fetcher_->Get(SpanId{span}, FetchClass::kDemand, [](auto) {});
  }
  static bool AllPaused(const std::vector<FakeByteSource::Seen>& reads, bool paused) {
    return std::all_of(reads.begin(), reads.end(),
                       [&](const auto& read) { return read.ended || read.paused == paused; });
  }

  FakeClock clock_;
  FetchScheduler scheduler_{clock_};
  std::shared_ptr<test::FakeLayerTable> table_ = std::make_shared<test::FakeLayerTable>();
  test::FakeBackingStore store_{10};
  FakeByteSource layer_{test::NoiseBytes(1'000, 5)};
  std::unique_ptr<LayerFetcher> fetcher_;
  const std::string bytes_ = test::NoiseBytes(4'000, 6);
  FakeByteSource blob_{bytes_};
  DownloadWindow window_{{.connections = 2, .range = 1'000, .ranges = 3}, &scheduler_};
};

TEST_F(OrderedDownloadBesideReaders, ItStandsStillWhileAReaderWaitsAndThenGoesOn) {
  const auto stream = MakeOrderedDownload(blob_, {}, window_, "registry");
  Status status;
  std::string got;
  std::thread reader([&] { got = ReadAll(*stream, status); });
  EXPECT_TRUE(blob_.WaitForReads(2));
  Demand(3);
  EXPECT_TRUE(layer_.WaitForReads(1));
  EXPECT_TRUE(blob_.WaitUntil([](const auto& reads) { return AllPaused(reads, true); }));
  blob_.Finish(0);                      // what was on its way all the same
  EXPECT_EQ(blob_.reads().size(), 2u);  // nothing new beside the demand
  blob_.AnswerByItself();
  layer_.Finish(0);
  EXPECT_TRUE(blob_.WaitUntil([](const auto& reads) { return AllPaused(reads, false); }));
  blob_.Finish(1);
  reader.join();
  EXPECT_EQ(status, OkStatus());
  EXPECT_TRUE(got == bytes_);
}

TEST_F(OrderedDownloadBesideReaders, OneThatBeginsWhileAReaderWaitsBeginsAfterwards) {
  Demand(3);
  EXPECT_TRUE(layer_.WaitForReads(1));
  blob_.AnswerByItself();
  const auto stream = MakeOrderedDownload(blob_, {}, window_, "registry");
  Status status;
  std::string got;
  std::thread reader([&] { got = ReadAll(*stream, status); });
  layer_.Finish(0);
  reader.join();
  EXPECT_EQ(layer_.reads().size(), 1u);
  EXPECT_TRUE(got == bytes_);
}

TEST_F(OrderedDownloadBesideReaders, FillStandsStillUntilTheLayerIsUnpacked) {
  auto stream = MakeOrderedDownload(blob_, {}, window_, "registry");
  blob_.AnswerByItself();
  fetcher_->StartFill({});
  Demand(3);
  EXPECT_TRUE(layer_.WaitForReads(1));
  layer_.Finish(0);
  Status status;
  EXPECT_TRUE(ReadAll(*stream, status) == bytes_);
  EXPECT_EQ(layer_.reads().size(), 1u) << "all was downloaded, and somebody still waits for the end";
  stream.reset();
  EXPECT_TRUE(layer_.WaitForReads(2));

  stream = MakeOrderedDownload(blob_, {}, window_, "registry");
  EXPECT_TRUE(layer_.WaitUntil([](const auto& reads) { return AllPaused(reads, true); }));
  stream.reset();
  EXPECT_TRUE(layer_.WaitUntil([](const auto& reads) { return AllPaused(reads, false); }));
}

TEST_F(OrderedDownloadBesideReaders, OneThatIsStoppedWhileItWaitsForAConnectionEnds) {
  Demand(3);
  EXPECT_TRUE(layer_.WaitForReads(1));
  std::stop_source stop;
  FetchContext context;
  context.stop = stop.get_token();
  auto stream = MakeOrderedDownload(blob_, context, window_, "registry");
  Status status;
  std::thread reader([&] { ReadAll(*stream, status); });
  stop.request_stop();
  reader.join();
  EXPECT_TRUE(absl::IsCancelled(status));
  stream.reset();
  EXPECT_EQ(blob_.reads().size(), 0u);
}

TEST(OrderedDownload, AnEmptyBlobEndsAtOnce) {
  FakeByteSource source("");
  DownloadWindow window({});
  Status status;
  EXPECT_EQ(ReadAll(*MakeOrderedDownload(source, {}, window), status), "");
  EXPECT_EQ(status, OkStatus());
}

}  // namespace
}  // namespace soci
