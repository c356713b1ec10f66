// The daemon where few descriptors may be open.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <iterator>
#include <thread>

#include "tests/e2e/support/lazy_start.h"

namespace soci::test {
namespace {

using ::testing::HasSubstr;

constexpr size_t kFiles = 500;

size_t OpenDescriptors(pid_t process) {
  const std::filesystem::directory_iterator folder("/proc/" + std::to_string(process) + "/fd");
  return static_cast<size_t>(std::distance(begin(folder), end(folder)));
}

class Descriptors : public LazyStart {
 protected:
  Descriptors() : LazyStart(OnDemandOnly()) {}

  void RestartWithLimit(unsigned limit) {
    daemon_.Stop();
    daemon_.LimitDescriptors(limit);
    daemon_.Start();
    WaitForSnapshotter();
  }
};

TEST_F(Descriptors, E4_TwentyThousandOpensOfFiveHundredFilesNeedFewerThan128OfTheir256) {
  TestImage image;
  image.Add(GzipLayer(BusyboxTar().Finish()));
  TarBuilder tar;
  tar.Directory("e4");
  for (size_t i = 0; i < kFiles; ++i) tar.File("e4/f" + std::to_string(i), ProseBytes(3000, i));
  image.Add(GzipLayer(tar.Finish()));
  const std::string reference = PushIndexed(image, "app");
  RestartWithLimit(256);
  PullLazily(reference);

  std::string folder;
  for (const auto& mount : std::filesystem::directory_iterator(daemon_.run() + "/m")) {
    if (std::filesystem::exists(mount.path() / "e4")) folder = mount.path() / "e4";
  }
  ASSERT_NE(folder, "");
  std::atomic<size_t> errors{0};
  std::atomic<size_t> most{0};
  std::vector<std::thread> readers;
  for (size_t t = 0; t < 16; ++t) {
    readers.emplace_back([&, t] {
      char page[4096];
      for (size_t i = 0; i < 20'000 / 16; ++i) {
        const std::string path = folder + "/f" + std::to_string((i * 7 + t * 31) % kFiles);
        const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
        if (fd < 0 || ::read(fd, page, sizeof page) != 3000) ++errors;
        if (fd >= 0) ::close(fd);
        if (i % 100 == 0) most = std::max(most.load(), OpenDescriptors(daemon_.pid()));
      }
    });
  }
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(errors, 0u);
  EXPECT_LT(most, 128u);
  RecordProperty("most_descriptors", static_cast<int>(most));
  EXPECT_TRUE(daemon_.Running());
}

// A lower limit is told, and what does not fit is left to containerd.
TEST_F(Descriptors, LayersBeyondTheLimitAreLeftToContainerd) {
  TestImage image;
  image.Add(GzipLayer(BusyboxTar().Finish()));
  for (size_t i = 1; i < 30; ++i) {
    image.Add(GzipLayer(TarBuilder().File("f" + std::to_string(i), "text").Finish()));
  }
  const std::string reference = PushIndexed(image, "app");
  RestartWithLimit(76);
  PullLazily(reference);
  EXPECT_EQ(Output(reference, {"sh", "-c", "cat /f* | wc -c"}), std::to_string(29 * 4) + "\n");
  EXPECT_THAT(daemon_.Log(), HasSubstr("76 descriptors may be open (LimitNOFILE): at most 20 lazy layers"));
  const auto layers = daemon_.Layers();
  EXPECT_EQ(std::count_if(layers.begin(), layers.end(), [](const auto& layer) { return layer.state == "deferred"; }),
            10);
  EXPECT_THAT(daemon_.Log(), HasSubstr("20 layers are mounted, no more descriptors may be open"));
}

}  // namespace
}  // namespace soci::test
