// What many layers cost the daemon, by its own count in /proc.
#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <future>
#include <iterator>
#include <thread>

#include "tests/e2e/support/lazy_start.h"
#include "tests/support/memory_use.h"

namespace soci::test {
namespace {

constexpr size_t kBig = 64 << 20;
constexpr size_t kHuge = 512 << 20;

// Enough names in each to have a table of a usual size; the last one is large.
TestImage ManyLayers(size_t first, size_t layers) {
  TestImage image;
  image.Add(GzipLayer(BusyboxTar().File("image", std::to_string(first)).Finish()));
  for (size_t i = 1; i + 1 < layers; ++i) {
    TarBuilder tar;
    const std::string folder = "f" + std::to_string(first + i);
    tar.Directory(folder);
    for (int j = 0; j < 50; ++j) tar.File(folder + "/" + std::to_string(j), ProseBytes(2000, first + i + j));
    image.Add(GzipLayer(tar.Finish(), 1));
  }
  image.Add(GzipLayer(TarBuilder().File("big", NoiseBytes(kBig, first)).Finish(), 1));
  return image;
}

ptrdiff_t OpenDescriptors(pid_t process) {
  const std::filesystem::directory_iterator folder("/proc/" + std::to_string(process) + "/fd");
  return std::distance(begin(folder), end(folder));
}

// What a process has at most, until this goes.
class MostOf {
 public:
  explicit MostOf(pid_t process)
      : thread_([this, process] {
          while (!stopping_) {
            bytes_ = std::max(bytes_, AnonymousBytes(process));
            descriptors_ = std::max(descriptors_, OpenDescriptors(process));
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
          }
        }) {}
  ~MostOf() { Stop(); }
  void Stop() {
    stopping_ = true;
    if (thread_.joinable()) thread_.join();
  }
  uint64_t bytes() const { return bytes_; }
  ptrdiff_t descriptors() const { return descriptors_; }

 private:
  std::atomic<bool> stopping_ = false;
  uint64_t bytes_ = 0;
  ptrdiff_t descriptors_ = 0;
  std::thread thread_;
};

class Memory : public LazyStart {
 protected:
  explicit Memory(std::vector<std::string> flags = OnDemandOnly()) : LazyStart(std::move(flags)) {}
};

class MemoryOfMany : public Memory {
 protected:
  MemoryOfMany()
      : Memory([] {
          std::vector<std::string> flags = OnDemandOnly();
          flags.push_back("--record.quiet_seconds=1");
          return flags;
        }()) {}

  void StartWithFewDescriptors() {
    daemon_.Stop();
    daemon_.LimitDescriptors(256);
    daemon_.Start();
    WaitForSnapshotter();
  }
  void ExpectLittle(const char* when, MostOf& most) {
    most.Stop();
    RecordProperty(std::string("descriptors ") + when, std::to_string(most.descriptors()));
    RecordProperty(std::string("anonymous_bytes ") + when, std::to_string(most.bytes()));
    EXPECT_LT(most.descriptors(), 256) << when;
    if (kMemoryIsOurs) {
      EXPECT_LT(most.bytes(), 150u << 20) << when;
    }
  }
};

// Mounted and read; then, by a daemon that found them on its disk, filled and sealed; and one of the images pulled once
// more, where what was read before is replayed.
TEST_F(MemoryOfMany, TwoHundredLayersThatAreReadAndFilledAndReplayedTakeLessThan150MegabytesAnd256Descriptors) {
  StartWithFewDescriptors();
  const std::vector<std::string> span_size = {"--min-layer-size=0", "--span-size=1MiB"};
  const std::string one = PushIndexed(ManyLayers(0, 30), "one", span_size);
  const std::string two = PushIndexed(ManyLayers(1000, 170), "two", span_size);
  const std::vector<std::string> read = {"sh", "-c", "cat /big /f*/* | wc -c"};
  const std::string size = std::to_string(kBig + 28 * 50 * 2000) + "\n";
  {
    MostOf most(daemon_.pid());
    PullLazily(one);
    PullLazily(two);
    ASSERT_EQ(daemon_.Layers().size(), 200u);
    for (const Daemon::Layer& layer : daemon_.Layers()) ASSERT_EQ(layer.state, "lazy") << layer.reason;
    EXPECT_EQ(Output(one, read), size);
    ExpectLittle("on demand", most);
  }
  ASSERT_TRUE(WaitUntil([&] {
    std::error_code none;
    return std::filesystem::directory_iterator(daemon_.state() + "/records/sha256", none) !=
           std::filesystem::directory_iterator();
  })) << daemon_.Log();
  daemon_.AddFlag("--fetch.fill=true");
  StartWithFewDescriptors();
  {
    MostOf most(daemon_.pid());
    ASSERT_TRUE(daemon_.WaitUntilSealed()) << daemon_.Log();
    ASSERT_EQ(daemon_.Layers().size(), 200u);
    ExpectLittle("filled", most);
  }
  ASSERT_EQ(Failure(containerd_.RemoveImage(one)), "");
  ASSERT_TRUE(WaitUntil([&] { return daemon_.Layers().size() == 170; }));
  MostOf most(daemon_.pid());
  PullLazily(one);
  EXPECT_EQ(Output(one, read), size);
  ASSERT_TRUE(daemon_.WaitUntilSealed()) << daemon_.Log();
  EXPECT_NE(daemon_.Log().find("by its own record"), std::string::npos) << daemon_.Log();
  ExpectLittle("replayed", most);
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

TEST_F(Memory, E5_AHugeFileIsReadHereAndThereAndAsAWholeInLessThan128Megabytes) {
  const ImageLayer huge = GzipLayer(TarBuilder().File("zeros", std::string(kHuge, '\0')).Finish(), 1);
  const std::string reference =
      PushIndexed(TestImage().Add(GzipLayer(BusyboxTar().Finish())).Add(huge), "huge", {"--min-layer-size=0"});
  PullLazily(reference);
  MostOf most(daemon_.pid());
  EXPECT_EQ(Output(reference, {"sh", "-c",
                               "for at in 0 50000 131071; do dd if=/zeros bs=4096 skip=$at count=1; done 2>/dev/null | "
                               "cat - /zeros | wc -c"}),
            std::to_string(3 * 4096 + kHuge) + "\n");
  most.Stop();
  RecordProperty("anonymous_bytes", std::to_string(most.bytes()));
  if (kMemoryIsOurs) {
    EXPECT_LT(most.bytes(), 128u << 20);
  }
}

}  // namespace
}  // namespace soci::test
