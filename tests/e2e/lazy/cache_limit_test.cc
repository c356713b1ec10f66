// cache.limit, as users set it: a real daemon, an image that is much larger, readers on its mounts.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <random>
#include <thread>

#include "indexer/base/file_io.h"
#include "indexer/base/units.h"
#include "tests/e2e/support/lazy_start.h"

namespace soci::test {
namespace {

using ::testing::HasSubstr;

constexpr uint64_t kLimit = 20_MiB;
constexpr size_t kFileSize = 5'000'000;
constexpr size_t kFilesInALayer = 4;
constexpr size_t kLargeLayers = 5;
constexpr int kReaders = 4;
constexpr int kReadsOfEach = 300;

class CacheLimitEndToEnd : public LazyStart {
 protected:
  CacheLimitEndToEnd() : LazyStart({"--cache.limit=20MiB"}) {}

  // Five layers of 20 MB that cannot be kept whole, and one that can.
  TestImage MakeImage() {
    TestImage image;
    for (size_t layer = 0; layer < kLargeLayers; ++layer) {
      TarBuilder tar;
      for (size_t file = 0; file < kFilesInALayer; ++file) {
        contents_.push_back(NoiseBytes(kFileSize, contents_.size() + 1));
        tar.File(Name(contents_.size() - 1), contents_.back());
      }
      image.Add(GzipLayer(tar.Finish(), 1));
    }
    return image.Add(GzipLayer(TarBuilder().File("small", NoiseBytes(2'000'000, 999)).Finish(), 1));
  }
  static std::string Name(size_t file) { return "file" + std::to_string(file); }

  // What docs/configuration.md says is counted: the blocks of data, fs and residue of every layer.
  uint64_t BytesOnDisk() const {
    uint64_t bytes = 0;
    const auto add = [&](const std::filesystem::path& path) {
      struct stat attributes {};
      if (::lstat(path.c_str(), &attributes) == 0 && S_ISREG(attributes.st_mode)) {
        bytes += static_cast<uint64_t>(attributes.st_blocks) * 512;
      }
    };
    std::error_code error;  // files come and go
    for (const auto& layer : std::filesystem::directory_iterator(daemon_.state() + "/layers/sha256", error)) {
      add(layer.path() / "residue");
      for (const char* folder : {"data", "fs", "fs.partial"}) {
        std::filesystem::recursive_directory_iterator entry(layer.path() / folder, error), end;
        for (; !error && entry != end; entry.increment(error)) add(entry->path());
      }
    }
    return bytes;
  }

  // The daemon stands still meanwhile: what it evicts and what it writes must not both be counted.
  uint64_t BytesAtOneMoment() const {
    ::kill(daemon_.pid(), SIGSTOP);
    const std::string threads = "/proc/" + std::to_string(daemon_.pid()) + "/task";
    for (const auto& thread : std::filesystem::directory_iterator(threads)) {
      const auto stands = [&] {
        const std::string stat = ReadFile(thread.path() / "stat").value_or("x) T");
        return stat.substr(stat.rfind(')') + 2, 1) == "T";
      };
      while (!stands()) std::this_thread::yield();
    }
    const uint64_t bytes = BytesOnDisk();
    ::kill(daemon_.pid(), SIGCONT);
    return bytes;
  }

  // Reads pieces at random from all files, none of them from the kernel's cache; every byte is compared.
  void ReadAtRandom(const TestImage& image) {
    std::vector<std::string> paths;
    for (const Daemon::Layer& layer : daemon_.Layers()) {
      for (size_t i = 0; i < kLargeLayers; ++i) {
        if (image.layers()[i].digest.ToString() != layer.digest) continue;
        for (size_t file = i * kFilesInALayer; file < (i + 1) * kFilesInALayer; ++file) {
          paths.resize(std::max(paths.size(), file + 1));
          paths[file] = layer.directory + "/" + Name(file);
        }
      }
    }
    ASSERT_EQ(paths.size(), contents_.size());
    std::atomic<bool> stop = false;
    std::atomic<uint64_t> most = 0, samples = 0;
    std::thread sampler([&] {
      while (!stop) {
        most = std::max<uint64_t>(most, BytesAtOneMoment());
        ++samples;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      }
    });
    std::atomic<int> right = 0;
    std::vector<std::thread> readers;
    for (int reader = 0; reader < kReaders; ++reader) {
      readers.emplace_back([&, reader] {
        std::mt19937 random(static_cast<uint32_t>(reader));
        std::string bytes(300'000, '\0');
        for (int i = 0; i < kReadsOfEach; ++i) {
          const size_t file = random() % paths.size();
          const size_t size = random() % 4 == 0 ? bytes.size() : 1 + random() % 20'000;
          const size_t offset = random() % (kFileSize - size);
          const auto opened = OpenFile(paths[file], O_RDONLY);
          if (!opened.ok()) continue;
          ::posix_fadvise(opened->get(), 0, 0, POSIX_FADV_RANDOM);
          ::posix_fadvise(opened->get(), 0, 0, POSIX_FADV_DONTNEED);
          const soci::Status read =
              ReadFullAt(opened->get(), offset, std::as_writable_bytes(std::span(bytes).first(size)), paths[file]);
          right += read.ok() &&
                   std::string_view(bytes).substr(0, size) == std::string_view(contents_[file]).substr(offset, size);
        }
      });
    }
    for (std::thread& reader : readers) reader.join();
    stop = true;
    sampler.join();
    EXPECT_EQ(right, kReaders * kReadsOfEach);
    EXPECT_GT(samples, 10u);
    EXPECT_LE(most, kLimit);  // not even one span more
    EXPECT_GT(most, kLimit / 2) << "nothing was kept";
  }

  std::vector<std::string> contents_;
};

TEST_F(CacheLimitEndToEnd, G5_AnImageLargerThanTheLimitIsReadWithoutErrorAndNeverKeptBeyondIt) {
  const TestImage image = MakeImage();
  PullLazily(PushIndexed(image, "large", {"--min-layer-size=0", "--span-size=1MiB"}));
  EXPECT_TRUE(WaitUntil([&] { return StateOf(image.layers().back()) == "sealed"; })) << Status();
  ReadAtRandom(image);
  EXPECT_THAT(Status(), HasSubstr("kept lazy: cache.limit has no room for all of it"));
  EXPECT_THAT(Status(), HasSubstr(" of 20.0 MiB"));
  EXPECT_THAT(Status(), ::testing::Not(HasSubstr(" 0 spans evicted")));

  // After an orderly stop, and after a kill.
  for (const bool kill : {false, true}) {
    SCOPED_TRACE(kill);
    if (kill) {
      daemon_.Kill();
    } else {
      daemon_.Stop();
    }
    EXPECT_LE(BytesOnDisk(), kLimit);
    daemon_.Start();
    WaitForSnapshotter();
    ReadAtRandom(image);
    EXPECT_EQ(StateOf(image.layers().back()), "sealed");
    for (size_t i = 0; i < kLargeLayers; ++i) EXPECT_EQ(StateOf(image.layers()[i]), "lazy");
  }
}

}  // namespace
}  // namespace soci::test
