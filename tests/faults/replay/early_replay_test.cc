// A replay that begins before its layer is mounted, and registries, pulls and removals that come in between.
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "indexer/record/record_builder.h"
#include "snapshotter/pull/list_folder.h"
#include "snapshotter/replay/image_records.h"
#include "tests/faults/registry/scenario.h"
#include "tests/unit/snapshotter/pull/provider_fixture.h"

namespace soci::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr size_t kSize = 600'000;

class EarlyReplay : public ::testing::Test {
 protected:
  EarlyReplay() {
    EXPECT_TRUE(MakeDirectories(paths_.LinksFolder()).ok());
    ImageRecords::Options options;
    options.find_published = [this](const oci::Reference&, const oci::Digest& manifest, const std::stop_token&) {
      const auto record = published_.find(manifest);
      return Result<std::optional<Record>>(record == published_.end() ? std::nullopt : std::optional(record->second));
    };
    records_ = std::make_unique<ImageRecords>(folder_ / "records", SystemClock(), program_, options);
    parts_ = std::make_unique<ProviderParts>(paths_, machine_.client(), mounter_, false, false, LayerSync::Delay{},
                                             records_.get());
    parts_->provider = std::make_unique<LazyLayerProvider>(parts_->sessions, *parts_->live, parts_->folders,
                                                           SystemClock(), records_.get());
  }
  ~EarlyReplay() override { Stop(); }
  void Stop() {
    if (parts_ == nullptr) return;
    records_->Stop();
    parts_->live->Stop();
    parts_.reset();
  }

  // Each layer has one file of these bytes; the record has what is told of every one of them.
  IndexedImage Push(const std::string& name, const std::vector<std::string>& contents,
                    const std::vector<UncompressedRange>& recorded) {
    IndexedImage image = PushIndexedImage(machine_.client(), contents, {}, true, registry_.Reference(name).ToString());
    std::vector<oci::LayerDigest> layers;
    for (const oci::Descriptor& layer : image.layers) layers.emplace_back(layer.digest);
    RecordBuilder builder(image.manifest, layers);
    for (size_t i = 0; i < recorded.size(); ++i) {
      builder.Add(layers[i], "d/file", contents[i].size(), recorded[i].begin, recorded[i].size(), 0);
    }
    published_[image.manifest] = builder.Build();
    registry_.registry().ForgetRequests();
    return image;
  }
  IndexedImage PushUpperRecorded(const std::string& name) {
    return Push(name, {NoiseBytes(kSize, 1), NoiseBytes(kSize, 2)}, {{}, {0, kSize}});
  }
  static oci::LayerDigest Layer(const IndexedImage& image, size_t i) {
    return oci::LayerDigest(image.layers[i].digest);
  }
  static std::string PathOf(const oci::Descriptor& blob) { return "/blobs/" + blob.digest.ToString(); }

  // As long as a test lives, unless it is taken away.
  void Trouble(const oci::Descriptor& blob, std::function<void(Answer&)> effect, int times = INT_MAX) {
    registry_.Change([&](RegistryScript& script) {
      script.troubles.push_back({.method = "GET", .part = PathOf(blob), .times = times, .effect = std::move(effect)});
    });
  }
  void NoMoreTrouble() {
    registry_.Change([](RegistryScript& script) { script.troubles.clear(); });
  }
  // The image's start waits for this zTOC until the gate is open.
  void Hold(const oci::Descriptor& ztoc, Gate& gate) {
    Trouble(ztoc, [&gate](Answer& answer) { answer.before = [&gate] { gate.Wait(); }; });
  }
  size_t Requests(const oci::Descriptor& blob) const { return registry_.Count("GET", PathOf(blob)); }
  void WaitForRequests(const oci::Descriptor& blob, size_t count) const {
    while (Requests(blob) < count) std::this_thread::yield();
  }

  // "", or why it was deferred.
  std::string Provide(const IndexedImage& image, size_t layer) {
    const auto outcome = parts_->provider->Provide(image.RequestLabels(layer), "default", {});
    if (!outcome.ok()) return std::string(Message(outcome.status()));
    const auto* deferred = std::get_if<LayerDeferred>(&*outcome);
    return deferred == nullptr ? "" : deferred->reason;
  }
  // What a container reads there, or the error.
  std::string Read(const IndexedImage& image, size_t layer) {
    const auto directory = parts_->live->LowerDirectory(Layer(image, layer));
    if (!directory.ok()) return std::string(Message(directory.status()));
    LayerReader* const reader = mounter_.LayerAt(*directory);
    const LayerTable& table = reader->table();
    const InodeId file = *table.Lookup(*table.Lookup(InodeId::kRoot, "d"), "file");
    Gate answered;
    std::string got;
    reader->Read(file, 0, kSize, [&](Result<ByteSpan> bytes) {
      got = bytes.ok() ? std::string(AsText(*bytes)) : std::string(Message(bytes.status()));
      answered.Open();
    });
    answered.Wait();
    return got;
  }
  ReplayReport ReportOf(const IndexedImage& image) const {
    for (const ReplayReport& report : records_->Reports()) {
      if (report.manifest == image.manifest) return report;
    }
    return {};
  }
  // Containerd gave the pull up, and nobody asks for the image any more.
  void GiveUp() {
    parts_->sessions.ForgetIdle(std::chrono::milliseconds(0),
                                [this](const oci::LayerDigest& layer) { return parts_->live->IsLive(layer); });
    parts_->provider->CollectUnused();
  }
  void ExpectNothingLeft() {
    EXPECT_THAT(ListFolder(paths_.LayersFolder()), IsEmpty());
    EXPECT_THAT(records_->Reports(), IsEmpty());
    for (uint32_t number = 1; number < 8; ++number) EXPECT_FALSE(mounter_.IsMounted(paths_.MountPoint(number)));
  }
  // Of an image of two layers, after all: the numbers of the first two, as none has leaked.
  void ExpectPulledRight(const IndexedImage& image) {
    for (size_t i = 0; i < 2; ++i) {
      EXPECT_EQ(Provide(image, i), "");
      EXPECT_TRUE(Read(image, i) == NoiseBytes(kSize, i + 1));
    }
    EXPECT_TRUE(mounter_.IsMounted(paths_.MountPoint(1)));
    EXPECT_TRUE(mounter_.IsMounted(paths_.MountPoint(2)));
  }

  ScriptedRegistry registry_;
  Machine machine_;
  TemporaryDirectory folder_;
  const StatePaths paths_{folder_ / "state", folder_ / "run"};
  FakeMounter mounter_;
  ProgramClock program_{SystemClock()};
  std::map<oci::Digest, Record> published_;
  std::unique_ptr<ImageRecords> records_;
  std::unique_ptr<ProviderParts> parts_;
};

TEST_F(EarlyReplay, TheRegistryFailsInTheMiddleAndTheLayerIsMountedAndReadAllTheSame) {
  const IndexedImage image = PushUpperRecorded("team/app");
  Gate gate;
  Hold(image.ztocs[0], gate);
  int seen = 0;
  Trouble(image.layers[1], [&](Answer& answer) {
    if (++seen == 1) answer.reset_at = 100'000;
    if (seen == 2) answer.end_at = 50'000;
    if (seen == 3) answer.flip_bit_at = 10'000;
    if (seen == 4) answer = Answer{.status = 503};
  });
  std::thread pull([&] { EXPECT_EQ(Provide(image, 0), ""); });
  WaitForRequests(image.layers[1], 1);
  gate.Open();
  pull.join();
  ExpectPulledRight(image);
  while (ReportOf(image).state == "running") std::this_thread::yield();
  EXPECT_EQ(ReportOf(image).counts.given_up, 0u);
}

TEST_F(EarlyReplay, OfAPullThatFailsLeavesNothingAndTheNextPullIsRight) {
  const IndexedImage image = PushUpperRecorded("team/app");
  Gate gate, asked;
  Trouble(image.layers[1], [&](Answer& answer) {
    asked.Open();
    answer.stall_at = 1'000;
  });
  Trouble(image.ztocs[0], [&](Answer& answer) {
    answer = Answer{.status = 404};
    answer.before = [&] { gate.Wait(); };
  });
  std::thread pull([&] { EXPECT_THAT(Provide(image, 0), HasSubstr("404")); });
  asked.Wait();
  gate.Open();
  pull.join();
  GiveUp();
  ExpectNothingLeft();
  NoMoreTrouble();
  ExpectPulledRight(image);
}

TEST_F(EarlyReplay, OfAnImageThatIsRemovedMeanwhileEndsAtOnce) {
  const IndexedImage image = PushUpperRecorded("team/app");
  Gate asked;
  Trouble(image.layers[1], [&](Answer& answer) {
    asked.Open();
    answer.stall_at = 1'000;
  });
  EXPECT_EQ(Provide(image, 0), "");
  asked.Wait();
  EXPECT_TRUE(parts_->provider->Release(Layer(image, 0)).ok());
  ExpectNothingLeft();
  NoMoreTrouble();
  ExpectPulledRight(image);
}

TEST_F(EarlyReplay, OfALayerOfTwoImagesGoesOnForTheOneThatStaysAndEachSpanComesOnce) {
  const std::string shared = NoiseBytes(kSize, 1);
  const IndexedImage first = Push("team/first", {shared, NoiseBytes(kSize, 2)}, {{0, kSize}, {}});
  const IndexedImage second = Push("team/second", {shared, NoiseBytes(kSize, 3)}, {{kSize / 2, kSize}, {}});
  ASSERT_EQ(first.layers[0].digest, second.layers[0].digest);
  Gate asked, gate;
  Trouble(first.layers[0], [&](Answer& answer) {
    answer.before = [&] {
      asked.Open();
      gate.Wait();
    };
  });
  EXPECT_EQ(Provide(first, 1), "");
  asked.Wait();
  EXPECT_EQ(Provide(second, 1), "");
  EXPECT_TRUE(parts_->provider->Release(Layer(first, 1)).ok());
  gate.Open();
  while (ReportOf(second).state != "done") std::this_thread::yield();  // a reader may ask for spans on their way again
  EXPECT_EQ(Provide(second, 0), "");
  EXPECT_TRUE(Read(second, 0) == shared);
  EXPECT_TRUE(Read(second, 1) == NoiseBytes(kSize, 3));
  uint64_t bytes = 0;
  for (const SeenRequest& request : registry_.Requests("GET", PathOf(second.layers[0]))) bytes += request.body_sent;
  EXPECT_LE(bytes, second.blobs[0].size() * 11 / 10);
  EXPECT_EQ(ReportOf(second).counts.given_up, 0u);
  EXPECT_EQ(Provide(first, 0), "") << "and the first one can come again";
  EXPECT_EQ(Provide(first, 1), "");
  EXPECT_TRUE(Read(first, 0) == shared);
}

TEST_F(EarlyReplay, TheDaemonStopsWhileTheRegistryStandsStill) {
  const IndexedImage image = PushUpperRecorded("team/app");
  Gate asked;
  Trouble(image.layers[1], [&](Answer& answer) {
    asked.Open();
    answer.no_answer = true;
  });
  EXPECT_EQ(Provide(image, 0), "");
  asked.Wait();
  Stop();
  EXPECT_FALSE(mounter_.IsMounted(paths_.MountPoint(1)));
  EXPECT_THAT(ListFolder(paths_.LayersFolder()), Not(IsEmpty())) << "what came is kept";
}

}  // namespace
}  // namespace soci::test
