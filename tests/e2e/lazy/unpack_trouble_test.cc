// What happens to a full pull of ours when something goes wrong in its middle: nothing half-done stays, and containerd
// gets the layers that we cannot have.
#include <gmock/gmock.h>
#include <sys/mount.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tests/e2e/support/lazy_start.h"
#include "tests/support/temporary_directory.h"

namespace soci::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr size_t kBigFile = 16 << 20;

ImageLayer BigLayer(uint64_t seed) {
  const std::string folder = "srv" + std::to_string(seed);
  return GzipLayer(TarBuilder()
                       .Directory(folder)
                       .File(folder + "/big", NoiseBytes(kBigFile, seed))
                       .File(folder + "/n", "n\n")
                       .Finish(),
                   1);
}

TestImage BigImage(uint64_t seed, size_t layers = 1) {
  TestImage image = TestImage().Add(GzipLayer(BusyboxTar().Finish()));
  for (size_t i = 0; i < layers; ++i) image.Add(BigLayer(seed + i));
  return image;
}

class UnpackTrouble : public LazyStart {
 protected:
  explicit UnpackTrouble(std::vector<std::string> flags = {}) : LazyStart(std::move(flags)) {}

  // Goes on in the background, until the link goes down in its middle.
  std::unique_ptr<Process> StartPullUntilTheLinkIsDown(const std::string& reference, int64_t bytes = kBigFile / 2) {
    link_->GoDownAfter(bytes);
    auto pull = std::make_unique<Process>(
        std::vector<std::string>{Daemon::Program("soci-snapshotter"), "pull", "--plain-http", "--containerd",
                                 containerd_.address(), "--namespace", containerd_.name_space(), reference},
        sandbox_ / "pull.log");
    EXPECT_TRUE(WaitUntil([&] { return link_->IsDown(); })) << daemon_.Log();
    return pull;
  }
  void StartDaemonAgain() {
    daemon_.Start();
    WaitForSnapshotter();
  }
  // Regular files of layers, whatever state they are in.
  size_t LayerFiles(const std::string& below = "") const {
    size_t files = 0;
    std::error_code none;
    // Some of them go while they are counted.
    std::filesystem::recursive_directory_iterator entry(daemon_.state() + "/layers" + below, none), end;
    for (; !none && entry != end; entry.increment(none)) files += entry->is_regular_file(none) ? 1 : 0;
    return none && none != std::errc::no_such_file_or_directory ? files + 1 : files;
  }
  // Layers that containerd has committed already stay until it collects them.
  bool NothingHalfDoneIsLeft() {
    return WaitUntil([this] { return LayerFiles("/unpacking") + LayerFiles("/gone") == 0; });
  }
  bool NothingIsLeft() {
    return WaitUntil([this] { return LayerFiles() == 0; });
  }
  void ExpectSealed(const TestImage& image, const std::string& reference, uint64_t seed) {
    for (const ImageLayer& layer : image.layers()) EXPECT_EQ(StateOf(layer), "sealed") << daemon_.Log();
    EXPECT_THAT(Output(reference, {"sha256sum", "/srv" + std::to_string(seed) + "/big"}),
                StartsWith(oci::Digest::Of(NoiseBytes(kBigFile, seed)).Hex()));
  }
};

TEST_F(UnpackTrouble, ADaemonThatIsKilledInTheMiddleLeavesNothingAndPullsAgain) {
  const TestImage image = BigImage(1);
  const std::string reference = Push(image, "app");
  const auto pull = StartPullUntilTheLinkIsDown(reference);
  EXPECT_GT(LayerFiles(), 0u);
  daemon_.Kill();
  EXPECT_NE(pull->Wait(std::chrono::seconds(30)), 0);
  StartDaemonAgain();
  containerd_.RemoveAllImages();
  EXPECT_TRUE(NothingHalfDoneIsLeft()) << daemon_.Log();
  link_->SetDown(false);
  PullLazily(reference);
  ExpectSealed(image, reference, 1);
}

TEST_F(UnpackTrouble, ADaemonStopsInTheMiddleAtOnceAndLeavesNothing) {
  const TestImage image = BigImage(1);
  const std::string reference = Push(image, "app");
  const auto pull = StartPullUntilTheLinkIsDown(reference);
  EXPECT_EQ(daemon_.Stop(), 0) << daemon_.Log();
  pull->Stop();
  StartDaemonAgain();
  containerd_.RemoveAllImages();
  EXPECT_TRUE(NothingHalfDoneIsLeft()) << daemon_.Log();
  link_->SetDown(false);
  PullLazily(reference);
  ExpectSealed(image, reference, 1);
}

TEST_F(UnpackTrouble, F10_ARegistryThatGoesAwayForAWhileOnlyDelaysIt) {
  const TestImage image = BigImage(1);
  const std::string reference = Push(image, "app");
  const auto pull = StartPullUntilTheLinkIsDown(reference);
  link_->SetDown(false);
  EXPECT_EQ(pull->Wait(std::chrono::seconds(60)), 0) << daemon_.Log();
  ExpectSealed(image, reference, 1);
}

TEST_F(UnpackTrouble, APullThatIsGivenUpInTheMiddleStopsTheDownloads) {
  // No small layer: the first Prepare surely waits then.
  TestImage image;
  for (uint64_t seed : {1, 2, 3, 4}) image.Add(BigLayer(seed));
  const std::string reference = Push(image, "app");
  const auto pull = StartPullUntilTheLinkIsDown(reference);
  pull->Stop();
  EXPECT_TRUE(NothingIsLeft()) << daemon_.Log();
  EXPECT_THAT(daemon_.Layers(), IsEmpty());
  link_->SetDown(false);
  // Whatever were still wanted would be asked for by now: a pull of another image goes the whole way.
  registry_.ForgetRequests();
  PullLazily(Push(BigImage(9), "other"));
  for (const ImageLayer& layer : image.layers()) {
    EXPECT_THAT(registry_.BlobGets(layer.digest.ToString()), IsEmpty());
  }
}

TEST_F(UnpackTrouble, AllLayersOfAnImageAreUnderWayFromItsFirstPrepareOn) {
  const TestImage image = BigImage(1, 3);
  const std::string reference = Push(image, "app");
  // The first layer's bytes do not all come: its Prepare is the only one.
  const auto pull = StartPullUntilTheLinkIsDown(reference, 1 << 19);
  EXPECT_TRUE(WaitUntil([&] {
    const std::vector<std::string> states = LayerStates();
    return std::count_if(states.begin(), states.end(),
                         [](const std::string& state) { return state.find(": unpacking") != std::string::npos; }) >= 3;
  })) << daemon_.Log();
  link_->SetDown(false);
  EXPECT_EQ(pull->Wait(std::chrono::seconds(60)), 0) << daemon_.Log();
  ExpectSealed(image, reference, 2);
}

class UnpackShortOfTime : public UnpackTrouble {
 protected:
  UnpackShortOfTime() : UnpackTrouble({"--registry.read_retry_budget=1s"}) {}
};

TEST_F(UnpackShortOfTime, WhatTheRegistryDoesNotGiveUsIsLeftToContainerd) {
  const TestImage image = BigImage(1);
  const std::string reference = Push(image, "app");
  const auto pull = StartPullUntilTheLinkIsDown(reference);
  // Of the first that did not come whole.
  ASSERT_TRUE(WaitUntil([&] {
    const std::vector<std::string> states = LayerStates();
    return std::any_of(states.begin(), states.end(),
                       [](const std::string& state) { return state.find(": deferred") != std::string::npos; });
  })) << daemon_.Log();
  link_->SetDown(false);
  EXPECT_EQ(pull->Wait(std::chrono::seconds(60)), 0) << daemon_.Log();
  EXPECT_THAT(Output(reference, {"sha256sum", "/srv1/big"}),
              StartsWith(oci::Digest::Of(NoiseBytes(kBigFile, 1)).Hex()));
}

class UnpackOnASmallDisk : public UnpackTrouble {
 protected:
  UnpackOnASmallDisk() {
    daemon_.Stop();
    EXPECT_EQ(::mount("tmpfs", daemon_.state().c_str(), "tmpfs", 0, "size=24m"), 0);
    StartDaemonAgain();
  }
  ~UnpackOnASmallDisk() override {
    containerd_.RemoveAllImages();
    daemon_.Stop();
    EXPECT_EQ(::umount2(daemon_.state().c_str(), 0), 0);
  }
};

TEST_F(UnpackOnASmallDisk, F8_AnImageThatDoesNotFitFailsAndLeavesTheDiskAsItWas) {
  const std::string large = Push(BigImage(1, 2), "large");
  EXPECT_NE(daemon_.Pull(containerd_, large).exit_code, 0);
  EXPECT_THAT(daemon_.Log(), HasSubstr("No space left on device"));
  // What containerd made of its own attempt goes with its next collection.
  EXPECT_EQ(Failure(containerd_.Ctr({"leases", "create", "--id", "collect"})), "");
  EXPECT_EQ(Failure(containerd_.Ctr({"leases", "delete", "--sync", "collect"})), "");
  EXPECT_TRUE(NothingIsLeft()) << daemon_.Log();
  EXPECT_TRUE(WaitUntil([&] { return std::filesystem::space(daemon_.state()).available > (20u << 20); }));
  const TestImage small = BigImage(7);
  const std::string reference = Push(small, "small");
  PullLazily(reference);
  ExpectSealed(small, reference, 7);
}

TEST_F(UnpackTrouble, ALayerThatAPowerLossTookIsFetchedAgainWithoutTheDaemonWaitingForIt) {
  const TestImage image = BigImage(1);
  const std::string reference = Push(image, "app");
  PullLazily(reference);
  const std::string mark = daemon_.state() + "/layers/sha256/" + image.layers()[1].digest.Hex() + "/unsynced";
  ASSERT_TRUE(WaitUntil([&] { return !std::filesystem::exists(mark); }));
  daemon_.Kill();
  std::ofstream(mark) << std::string(16, 'x');  // another boot's
  link_->SetDown(true);
  StartDaemonAgain();
  EXPECT_EQ(StateOf(image.layers()[0]), "sealed");
  EXPECT_NE(StateOf(image.layers()[1]), "sealed");
  link_->SetDown(false);
  ASSERT_TRUE(WaitUntil([&] { return StateOf(image.layers()[1]) == "sealed"; }, std::chrono::seconds(40)))
      << daemon_.Log();
  ExpectSealed(image, reference, 1);
}

TEST_F(UnpackTrouble, WhatIsHereNeedsNoRegistryAfterAKill) {
  const TestImage image = BigImage(1);
  const std::string reference = Push(image, "app");
  PullLazily(reference);
  registry_.Stop();
  daemon_.Kill();
  StartDaemonAgain();
  ExpectSealed(image, reference, 1);
}

// C11: ten layers without an index; every byte comes once, and what is found out about the image is found out once.
TEST_F(UnpackTrouble, C11_TenLayersWithoutAnIndexAreFetchedOnce) {
  TestImage image = TestImage().Add(GzipLayer(BusyboxTar().Finish()));
  for (int i = 0; i < 9; ++i) {
    const std::string folder = "srv" + std::to_string(i);
    image.Add(GzipLayer(TarBuilder().Directory(folder).File(folder + "/f", NoiseBytes(3 << 20, i)).Finish(), 1));
  }
  const std::string reference = Push(image, "app");
  registry_.ForgetRequests();
  PullLazily(reference);
  for (const ImageLayer& layer : image.layers()) {
    EXPECT_EQ(StateOf(layer), "sealed");
    uint64_t bytes = 0;
    for (const LoggedRequest& get : registry_.BlobGets(layer.digest.ToString())) bytes += get.bytes;
    EXPECT_EQ(bytes, layer.blob.size());
  }
  EXPECT_LE(registry_.BlobGets(oci::Digest::Of(image.Config()).ToString()).size(), 2u);  // the client's, and ours
}

}  // namespace
}  // namespace soci::test
