// What many layers cost the daemon, by its own count in /proc.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <future>
#include <iterator>

#include "tests/e2e/support/lazy_start.h"
#include "tests/support/memory_use.h"

namespace soci::test {
namespace {

constexpr size_t kLayersOfAnImage = 100;  // two images: 200 mounts

// Enough names in each to have a table of a usual size.
TestImage ManyLayers(size_t first) {
  TestImage image;
  image.Add(GzipLayer(BusyboxTar().File("image", std::to_string(first)).Finish()));
  for (size_t i = 1; i < kLayersOfAnImage; ++i) {
    TarBuilder tar;
    const std::string folder = "f" + std::to_string(first + i);
    tar.Directory(folder);
    for (int j = 0; j < 50; ++j) tar.File(folder + "/" + std::to_string(j), ProseBytes(2000, first + i + j));
    image.Add(GzipLayer(tar.Finish(), 1));
  }
  return image;
}

ptrdiff_t OpenDescriptors(pid_t process) {
  const std::filesystem::directory_iterator folder("/proc/" + std::to_string(process) + "/fd");
  return std::distance(begin(folder), end(folder));
}

class Memory : public LazyStart {
 protected:
  Memory() : LazyStart(OnDemandOnly()) {}
};

TEST_F(Memory, TwoHundredMountedLayersTakeLessThan150MegabytesOfAnonymousMemoryAnd256Descriptors) {
  daemon_.Stop();
  daemon_.LimitDescriptors(256);
  daemon_.Start();
  WaitForSnapshotter();
  const std::string one = PushIndexed(ManyLayers(0), "one"), two = PushIndexed(ManyLayers(1000), "two");
  PullLazily(one);
  PullLazily(two);
  ASSERT_EQ(daemon_.Layers().size(), 2 * kLayersOfAnImage);
  for (const Daemon::Layer& layer : daemon_.Layers()) ASSERT_EQ(layer.state, "lazy") << layer.reason;
  EXPECT_LT(AnonymousBytes(daemon_.pid()), 150u << 20);
  // And after every file of one of them was read.
  EXPECT_EQ(Output(one, {"sh", "-c", "cat /f*/* | wc -c"}), "9900000\n");
  const uint64_t bytes = AnonymousBytes(daemon_.pid());
  RecordProperty("anonymous_bytes", std::to_string(bytes));
  EXPECT_LT(bytes, 150u << 20);
  RecordProperty("descriptors", std::to_string(OpenDescriptors(daemon_.pid())));
  EXPECT_EQ(daemon_.Log().find("Too many open files"), std::string::npos);
}

// E5: one of the files is much larger than the limit, and packs to nothing.
TEST_F(Memory, E5_HugeLayersThatAreUnpackedAtOnceTakeLessThan150MegabytesOfAnonymousMemory) {
  TestImage image = TestImage().Add(GzipLayer(BusyboxTar().Finish()));
  for (size_t i = 0; i < 3; ++i) {
    const std::string folder = "f" + std::to_string(i);
    TarBuilder tar;
    tar.Directory(folder).File(folder + "/big", NoiseBytes(24 << 20, i));
    if (i == 1) tar.File(folder + "/zeros", std::string(200 << 20, '\0'));
    for (int j = 0; j < 5'000; ++j) tar.File(folder + "/" + std::to_string(j), "small");
    image.Add(GzipLayer(tar.Finish(), 1));
  }
  const std::string reference = Push(image, "huge");
  auto pull = std::async(std::launch::async, [&] { return daemon_.Pull(containerd_, reference); });
  uint64_t most = 0;
  while (pull.wait_for(std::chrono::milliseconds(5)) != std::future_status::ready) {
    most = std::max(most, AnonymousBytes(daemon_.pid()));
  }
  EXPECT_EQ(Failure(pull.get()), "") << daemon_.Log();
  for (const ImageLayer& layer : image.layers()) EXPECT_EQ(StateOf(layer), "sealed");
  RecordProperty("anonymous_bytes", std::to_string(most));
  EXPECT_LT(most, 150u << 20);
}

}  // namespace
}  // namespace soci::test
