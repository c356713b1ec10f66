// What the whole product asks the registry for, as counts of requests and bytes in the registry's log.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <set>

#include "indexer/base/file_io.h"
#include "indexer/table/layer_table.h"
#include "tests/e2e/support/lazy_start.h"

namespace soci::test {
namespace {

struct Traffic {
  uint64_t requests = 0;
  uint64_t bytes = 0;
};

// Fill is off; whatever else is fetched, a program asked for, or it was guessed from what programs do.
class Traffics : public LazyStart {
 protected:
  explicit Traffics(std::vector<std::string> flags = {"--fetch.fill=false"}) : LazyStart(std::move(flags)) {}

  Traffic Of(const ImageLayer& layer) const {
    Traffic traffic;
    for (const LoggedRequest& get : registry_.BlobGets(layer.digest.ToString())) {
      ++traffic.requests;
      traffic.bytes += get.bytes;
    }
    return traffic;
  }
  // A file of a lazy layer, at the layer's own mount.
  std::string PathOf(const std::string& file) const {
    for (const auto& mount : std::filesystem::directory_iterator(daemon_.run() + "/m")) {
      if (std::filesystem::exists(mount.path() / file)) return mount.path() / file;
    }
    ADD_FAILURE() << file << " is in no layer: " << daemon_.Log();
    return "";
  }
  std::shared_ptr<const LayerTable> TableOf(const ImageLayer& layer) const {
    const auto table = LayerTable::Open(daemon_.state() + "/layers/sha256/" + layer.digest.Hex() + "/table",
                                        oci::LayerDigest(layer.digest));
    EXPECT_TRUE(table.ok()) << table.status();
    return table.ok() ? *table : nullptr;
  }
};

TEST_F(Traffics, E1_AFileReadInOrderIsFetchedOnceInFewRequests) {
  constexpr uint64_t kSize = 128 << 20;
  const TestImage image =
      TestImage()
          .Add(GzipLayer(BusyboxTar().Finish()))
          .Add(GzipLayer(TarBuilder().Directory("srv").File("srv/big", NoiseBytes(kSize, 1)).Finish(), 1));
  const ImageLayer& layer = image.layers()[1];
  const std::string reference = PushIndexed(image, "app", {"--min-layer-size=0"});
  PullLazily(reference);
  EXPECT_EQ(Output(reference, {"sh", "-c", "cat /srv/big | wc -c"}), std::to_string(kSize) + "\n");
  const Traffic traffic = Of(layer);
  RecordProperty("requests", std::to_string(traffic.requests));
  RecordProperty("bytes", std::to_string(traffic.bytes));
  EXPECT_LE(traffic.bytes, layer.blob.size() * 102 / 100);
  // What precedes the full window: one for each time it doubles. Then a span, of 4 MiB, or more at once.
  EXPECT_LE(traffic.requests, kSize / (4 << 20) + 8);
}

TEST_F(Traffics, TwoThousandRandomPagesOfABigFileCostTheirSpans) {
  constexpr uint64_t kSize = 64 << 20;
  const TestImage image = TestImage().Add(PlainLayer(TarBuilder().File("big", NoiseBytes(kSize, 1)).Finish()));
  const ImageLayer& layer = image.layers()[0];
  const std::string reference = PushIndexed(image, "app", {"--min-layer-size=0", "--span-size=16KiB"});
  PullLazily(reference);
  const auto table = TableOf(layer);
  ASSERT_NE(table, nullptr);
  const UncompressedRange content = table->Attributes(*table->Lookup(InodeId::kRoot, "big"))->content;
  const UniqueFd file = *OpenFile(PathOf("big"), O_RDONLY);
  std::mt19937_64 random(5);
  std::set<SpanId> touched;
  uint64_t touched_bytes = 0;
  char page[4096];
  for (int i = 0; i < 2000; ++i) {
    const uint64_t begin = random() % (kSize / sizeof page) * sizeof page;
    ASSERT_EQ(::pread(file.get(), page, sizeof page, static_cast<off_t>(begin)), static_cast<ssize_t>(sizeof page));
    const SpanId last = table->SpanAt(content.begin + begin + sizeof page - 1);
    for (SpanId span = table->SpanAt(content.begin + begin); span <= last; span = Next(span)) {
      if (touched.insert(span).second) touched_bytes += table->Extent(span).compressed.size();
    }
  }
  const Traffic traffic = Of(layer);
  RecordProperty("share", std::to_string(static_cast<double>(traffic.bytes) / static_cast<double>(touched_bytes)));
  EXPECT_LE(traffic.bytes, touched_bytes * 105 / 100);
  EXPECT_LE(traffic.requests, touched.size() * 105 / 100);
}

// Loading it lazily would cost more than it saves.
TEST_F(Traffics, E13_ASmallImageIsNotIndexedSaysSoAndIsPulledAsAWhole) {
  const TestImage image = TestImage()
                              .Add(GzipLayer(BusyboxTar().Finish()))
                              .Add(GzipLayer(TarBuilder().File("f", NoiseBytes(3 << 20, 1)).Finish(), 1));
  const std::string reference = Push(image, "small");
  const CommandResult indexed = CreateIndex(reference);
  EXPECT_NE(indexed.exit_code, 0) << indexed.out << indexed.err;
  EXPECT_THAT(indexed.err, ::testing::HasSubstr("no layer to index"));
  registry_.ForgetRequests();
  PullLazily(reference);
  for (const ImageLayer& layer : image.layers()) {
    EXPECT_EQ(StateOf(layer), "sealed") << daemon_.Log();
    EXPECT_EQ(Of(layer).bytes, layer.blob.size());
    EXPECT_LE(Of(layer).requests, 2u);
  }
  EXPECT_EQ(Output(reference, {"sh", "-c", "wc -c </f"}), std::to_string(3 << 20) + "\n");
}

struct Work {
  uint64_t read = 0, written = 0;  // bytes
  uint64_t calls = 0;              // that read or write
};

Work WorkOf(pid_t process) {
  Work work;
  std::ifstream io("/proc/" + std::to_string(process) + "/io");
  uint64_t value = 0;
  for (std::string key; io >> key >> value;) {
    if (key == "rchar:") work.read = value;
    if (key == "wchar:") work.written = value;
    if (key == "syscr:" || key == "syscw:") work.calls += value;
  }
  return work;
}

// What docs/benchmarking.md publishes. Calls that read or write, bytes and memory, none of which depends on the
// machine's speed.
TEST_F(Traffics, E11_WhatAGigabyteCostsTheDaemonStaysWithinItsBudget) {
  constexpr uint64_t kSize = 64 << 20, kFilesInAGiB = (1 << 30) / kSize;
  const TestImage image = TestImage()
                              .Add(GzipLayer(BusyboxTar().Finish()))
                              .Add(GzipLayer(TarBuilder().File("big", NoiseBytes(kSize, 1)).Finish(), 1));
  const std::string reference = PushIndexed(image, "app", {"--min-layer-size=0"});
  PullLazily(reference);
  const Work before = WorkOf(daemon_.pid());
  EXPECT_EQ(Output(reference, {"sh", "-c", "cat /big | wc -c"}), std::to_string(kSize) + "\n");
  const Work after = WorkOf(daemon_.pid());
  const uint64_t calls = (after.calls - before.calls) * kFilesInAGiB;
  RecordProperty("calls_per_gib", std::to_string(calls));
  RecordProperty("written_share", std::to_string((after.written - before.written) * 100 / kSize));
  EXPECT_LE(calls, 100'000u);
  // Once to the kernel, which caches it, and once to the disk.
  EXPECT_LE(after.written - before.written, kSize * 21 / 10);
}

}  // namespace
}  // namespace soci::test
