// The daemon's stop, whatever it is doing: it ends by itself and in order, and leaves no mount; the next one goes on.
#include <gmock/gmock.h>

#include <filesystem>

#include "tests/e2e/support/lazy_start.h"
#include "tests/support/temporary_directory.h"

namespace soci::test {
namespace {

using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr size_t kLayers = 6;
constexpr size_t kFile = 4 << 20;

// Some large layers, and one of many files.
TestImage WideImage() {
  TestImage image;
  image.Add(GzipLayer(BusyboxTar().Finish()));
  TarBuilder many;
  many.Directory("many");
  for (int i = 0; i < 1000; ++i) many.File("many/" + std::to_string(i), "x" + std::to_string(i));
  image.Add(GzipLayer(many.Finish()));
  for (size_t i = 0; i < kLayers; ++i) {
    const std::string name = "big" + std::to_string(i);
    image.Add(GzipLayer(TarBuilder().File(name, NoiseBytes(kFile, i)).Finish(), 1));
  }
  return image;
}

std::string SumOf(size_t layer) { return oci::Digest::Of(NoiseBytes(kFile, layer)).Hex(); }

class Stop : public LazyStart {
 protected:
  using LazyStart::LazyStart;
  // 0: it ended by itself. A test's patience is ten seconds.
  void ExpectCleanStop() {
    EXPECT_EQ(daemon_.Stop(), 0) << daemon_.Log();
    EXPECT_THAT(MountPointsBelow(daemon_.run()), IsEmpty());
    std::error_code none;
    EXPECT_TRUE(std::filesystem::is_empty(daemon_.run() + "/m", none));
  }
  void ExpectItGoesOn(const std::string& reference) {
    daemon_.Start();
    WaitForSnapshotter();
    ASSERT_TRUE(daemon_.WaitUntilSealed()) << daemon_.Log();
    EXPECT_THAT(Output(reference, {"sha256sum", "/big3"}), StartsWith(SumOf(3)));
  }
};

TEST_F(Stop, WhileItFillsAndSealsLayers) {
  const std::string reference = PushIndexed(WideImage(), "app");
  PullLazily(reference);
  for (const char* state : {"filling", "sealed"}) {
    ASSERT_TRUE(WaitUntil([&] {
      for (const Daemon::Layer& layer : daemon_.Layers()) {
        if (layer.state == state || layer.state == "sealed") return true;
      }
      return false;
    }));
    ExpectCleanStop();
    daemon_.Start();
    WaitForSnapshotter();
  }
  ExpectCleanStop();
  ExpectItGoesOn(reference);
}

TEST_F(Stop, WhileAPullWaitsForTheRegistry) {
  const std::string reference = PushIndexed(WideImage(), "app");
  registry_.Freeze();
  Process pull({Daemon::Program("soci-snapshotter"), "pull", "--plain-http", "--containerd", containerd_.address(),
                "--namespace", containerd_.name_space(), reference},
               sandbox_ / "pull.log");
  ExpectCleanStop();
  registry_.Thaw();
  pull.Stop();
  daemon_.Start();
}

TEST_F(Stop, WhileItRemovesAnImage) {
  const std::string reference = PushIndexed(WideImage(), "app");
  PullLazily(reference);
  ASSERT_TRUE(daemon_.WaitUntilSealed()) << daemon_.Log();
  ASSERT_EQ(Failure(containerd_.RemoveImage(reference)), "");
  ExpectCleanStop();
  // What was not deleted yet is deleted by the next one.
  daemon_.Start();
  const auto files_left = [&] {
    size_t files = 0;
    std::error_code none;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(daemon_.state() + "/layers", none)) {
      files += entry.is_directory(none) ? 0 : 1;
    }
    return files;
  };
  EXPECT_TRUE(WaitUntil([&] { return files_left() == 0; })) << daemon_.Log();
}

class StopOnDemand : public Stop {
 protected:
  StopOnDemand() : Stop(OnDemandOnly()) {}
};

TEST_F(StopOnDemand, WhileTheRegistryIsSilentAndAReaderWaits) {
  const std::string reference = PushIndexed(WideImage(), "app");
  PullLazily(reference);
  ASSERT_EQ(Failure(containerd_.RunDetached("soci", reference, "c1", {"sleep", "1000"})), "");
  EXPECT_EQ(containerd_.Exec("c1", {"cat", "/many/1"}).out, "x1");  // what cat needs is here then
  const auto reader = FreezeUnder("c1", {"cat", "/big5"});
  ExpectCleanStop();
  registry_.Thaw();
  EXPECT_NE(reader->Wait(std::chrono::seconds(30)), 0);
  daemon_.Start();
  WaitForSnapshotter();
  containerd_.RemoveContainer("c1");
  EXPECT_THAT(Output(reference, {"sha256sum", "/big3"}), StartsWith(SumOf(3)));
}

}  // namespace
}  // namespace soci::test
