// What stands between the first Prepare of an image and its last mount, as counts: requests, those at once, tables
// opened and compiled.
#include <gmock/gmock.h>
#include <sys/inotify.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <thread>

#include "indexer/base/unique_fd.h"
#include "tests/unit/snapshotter/pull/folder_count.h"
#include "tests/unit/snapshotter/pull/provider_fixture.h"

namespace soci::test {
namespace {

constexpr size_t kLayers = 40;

// So many have to be inside before any of them goes on.
class Barrier {
 public:
  explicit Barrier(size_t wanted) : wanted_(wanted) {}
  bool Meet() {
    std::unique_lock lock(mutex_);
    ++inside_;
    met_.notify_all();
    return met_.wait_for(lock, std::chrono::seconds(10), [this] { return inside_ >= wanted_; });
  }

 private:
  const size_t wanted_;
  std::mutex mutex_;
  std::condition_variable met_;
  size_t inside_ = 0;
};

// Counts what happens to the files of one name in the folders of an image's layers; `event` as for inotify.
class FileEvents {
 public:
  FileEvents(const StatePaths& paths, const IndexedImage& image, std::string name, uint32_t event)
      : name_(std::move(name)), watch_(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {
    for (const oci::Descriptor& layer : image.layers) {
      const std::string folder = paths.LayerFolder(oci::LayerDigest(layer.digest));
      EXPECT_TRUE(MakeDirectories(folder).ok());
      EXPECT_GE(::inotify_add_watch(watch_.get(), folder.c_str(), event), 0);
    }
  }
  size_t Count() {
    alignas(inotify_event) char buffer[1 << 16];
    for (ssize_t size; (size = ::read(watch_.get(), buffer, sizeof buffer)) > 0;) {
      for (ssize_t at = 0; at < size;) {
        const auto* event = reinterpret_cast<const inotify_event*>(buffer + at);
        if (event->len > 0 && event->name == name_) ++count_;
        at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
      }
    }
    return count_;
  }

 private:
  const std::string name_;
  const UniqueFd watch_;
  size_t count_ = 0;
};

class StartPath : public ProviderTest {
 protected:
  IndexedImage PushFortyLayers() {
    std::vector<std::string> contents;
    for (size_t i = 0; i < kLayers; ++i) contents.push_back("layer " + std::to_string(i));
    return PushIndexedImage(registry_, contents);
  }
  void StartWithAllLayers(const IndexedImage& image) {
    Start(false);
    for (size_t i = 0; i < kLayers; ++i) ASSERT_EQ(Provide(image, i), "");
  }
  size_t Requests(std::string_view part) const {
    const auto all = registry_.requests();
    return static_cast<size_t>(std::count_if(
        all.begin(), all.end(), [&](const std::string& request) { return request.find(part) != std::string::npos; }));
  }
  std::vector<ino_t> Tables(const IndexedImage& image) const {
    std::vector<ino_t> inodes;
    for (const oci::Descriptor& layer : image.layers) {
      struct stat table {};
      EXPECT_EQ(::stat((paths_.LayerFolder(oci::LayerDigest(layer.digest)) + "/table").c_str(), &table), 0);
      inodes.push_back(table.st_ino);
    }
    return inodes;
  }
};

TEST_F(StartPath, FortyLayersTakeFourDocumentsAndTheirZtocsManyAtOnce) {
  const IndexedImage image = PushFortyLayers();
  const size_t before = registry_.requests().size();
  // A round trip each, if they were asked for one after the other.
  Barrier first(2), second(2), ztocs(16);
  std::atomic<bool> together = true;
  registry_.fail = [&](const std::string& request) {
    const auto is_of = [&](const oci::Digest& digest) { return request.find(digest.ToString()) != std::string::npos; };
    const bool is_first = is_of(image.manifest);  // it, and its referrers
    const bool is_ztoc =
        std::any_of(image.ztocs.begin(), image.ztocs.end(), [&](const auto& one) { return is_of(one.digest); });
    const bool is_layer = request.find("OPEN") == 0;
    if (!is_first && !is_ztoc && !is_layer && !second.Meet()) together = false;  // config and index
    if (is_first && !first.Meet()) together = false;
    if (is_ztoc && !ztocs.Meet()) together = false;
    return OkStatus();
  };
  FileEvents opens(paths_, image, "table", IN_OPEN);
  ASSERT_NO_FATAL_FAILURE(StartWithAllLayers(image));
  EXPECT_TRUE(together);
  // Manifest, config, referrers, index; and nothing for a layer but its zTOC. Opening a blob asks nothing yet.
  EXPECT_EQ(registry_.requests().size() - before, 4 + kLayers + Requests("OPEN blobs"));
  EXPECT_EQ(opens.Count(), kLayers);
}

TEST_F(StartPath, EachLayersOriginIsWrittenOnce) {
  const IndexedImage image = PushFortyLayers();
  FileEvents origins(paths_, image, "origin.json", IN_MOVED_TO);
  ASSERT_NO_FATAL_FAILURE(StartWithAllLayers(image));
  EXPECT_EQ(origins.Count(), kLayers);
}

TEST_F(StartPath, EachLayersFolderIsMadeOnce) {
  const IndexedImage image = PushFortyLayers();
  const int before = FolderCount();
  ASSERT_NO_FATAL_FAILURE(StartWithAllLayers(image));
  EXPECT_LE(FolderCount() - before, static_cast<int>(kLayers) + 8) << "and the ways to the first of them";
}

TEST_F(StartPath, TheNextStartCompilesNothingAndAsksNothing) {
  const IndexedImage image = PushFortyLayers();
  ASSERT_NO_FATAL_FAILURE(StartWithAllLayers(image));
  Stop();
  const std::vector<ino_t> tables = Tables(image);
  const size_t asked = Requests("GET ");
  FileEvents opens(paths_, image, "table", IN_OPEN);
  Start(false);
  for (size_t i = 0; i < kLayers; ++i) {
    ASSERT_TRUE(provider().Restore(Layer(image, i), image.RequestLabels(i), LayerProvider::RestoreFrom::kDisk).ok());
  }
  EXPECT_EQ(Tables(image), tables);
  EXPECT_EQ(Requests("GET "), asked);
  EXPECT_EQ(opens.Count(), kLayers);
}

TEST_F(StartPath, APullOfWhatIsHereFetchesNoZtocAndCompilesNothing) {
  const IndexedImage image = PushFortyLayers();
  ASSERT_NO_FATAL_FAILURE(StartWithAllLayers(image));
  Stop();
  const std::vector<ino_t> tables = Tables(image);
  const size_t asked = Requests("GET ");
  FileEvents opens(paths_, image, "table", IN_OPEN);
  ASSERT_NO_FATAL_FAILURE(StartWithAllLayers(image));
  EXPECT_EQ(Tables(image), tables);
  EXPECT_EQ(Requests("GET "), asked + 4);
  EXPECT_EQ(opens.Count(), kLayers);
}

// Blobs of which nothing comes until the test lets it.
class SilentRegistry : public FakeRegistryClient {
 public:
  Result<std::unique_ptr<ByteSource>> OpenBlob(const oci::Reference& repository, const oci::Descriptor& blob) override {
    SOCI_ASSIGN_OR_RETURN(auto source, FakeRegistryClient::OpenBlob(repository, blob));
    return std::make_unique<Source>(*this, std::move(source));
  }
  void Speak() {
    std::lock_guard lock(speaking_);
    speaks_ = true;
    changed_.notify_all();
  }

 private:
  class Source final : public ByteSource {
   public:
    Source(SilentRegistry& registry, std::unique_ptr<ByteSource> source)
        : registry_(registry), source_(std::move(source)) {}
    uint64_t size() const override { return source_->size(); }
    Status ReadAt(uint64_t offset, MutableByteSpan out, const FetchContext& context) const override {
      {
        std::unique_lock lock(registry_.speaking_);
        registry_.changed_.wait(lock, [this] { return registry_.speaks_; });
      }
      return source_->ReadAt(offset, out, context);
    }

   private:
    SilentRegistry& registry_;
    const std::unique_ptr<ByteSource> source_;
  };

  std::mutex speaking_;
  std::condition_variable changed_;
  bool speaks_ = false;
};

TEST_F(StartPath, C12_TwoHundredLayersAreMountedAtOnceThoughNothingOfThemComes) {
  SilentRegistry registry;
  std::vector<IndexedImage> images;
  for (size_t i = 0; i < 5; ++i) {
    std::vector<std::string> contents;
    for (size_t j = 0; j < kLayers; ++j) contents.push_back(std::to_string(i) + " " + std::to_string(j));
    images.push_back(
        PushIndexedImage(registry, contents, {}, true, "registry.example/app" + std::to_string(i) + ":v1"));
  }
  parts_ = std::make_unique<ProviderParts>(paths_, registry, mounter_, true, false);
  std::vector<std::thread> pulls;
  for (const IndexedImage& image : images) {
    for (size_t start = 0; start < 4; ++start) {
      pulls.emplace_back([this, &image, start] {
        for (size_t i = start; i < kLayers; i += 4) EXPECT_EQ(Provide(image, i), "");
      });
    }
  }
  for (std::thread& pull : pulls) pull.join();
  const auto reports = parts_->live->Report();
  EXPECT_EQ(reports.size(), images.size() * kLayers);
  for (const LayerReport& report : reports) {
    EXPECT_EQ(report.state, LayerState::kFilling);
    EXPECT_EQ(report.spans_present, 0u);
  }
  registry.Speak();
  Stop();
}

TEST_F(StartPath, E8_SixtyImagesAtOnceFetchEachZtocOnceAndLeaveNothingWhenTheyAreForgotten) {
  const auto descriptors = [] {
    const std::filesystem::directory_iterator folder("/proc/self/fd");
    return std::distance(begin(folder), end(folder));
  };
  std::vector<IndexedImage> images;
  for (size_t i = 0; i < 60; ++i) {
    images.push_back(PushIndexedImage(registry_, {"base", "of " + std::to_string(i)}, {}, true,
                                      "registry.example/app" + std::to_string(i) + ":v1"));
  }
  LayerFolders folders(paths_);
  ImageSessions::Options shortest;
  shortest.remember_no = std::chrono::milliseconds(0);
  ImageSessions sessions(registry_, folders, SystemClock(), shortest);
  const auto before = descriptors();
  std::vector<std::thread> pulls;
  for (size_t i = 0; i < 120; ++i) {
    pulls.emplace_back([&, i] {
      const auto prepared = sessions.Get(images[i / 2].Request(i % 2));
      EXPECT_TRUE(prepared.ok() && (*prepared)->layers.size() == 2) << prepared.status();
    });
  }
  for (std::thread& pull : pulls) pull.join();
  for (const IndexedImage& image : images) EXPECT_EQ(Requests("GET blobs " + image.ztocs[1].digest.ToString()), 1u);
  EXPECT_EQ(descriptors(), before);
  sessions.ForgetIdle(std::chrono::milliseconds(0), [](const oci::LayerDigest&) { return false; });
  for (const IndexedImage& image : images) {
    EXPECT_FALSE(std::filesystem::exists(paths_.LayerFolder(Layer(image, 1))));
  }
  EXPECT_FALSE(std::filesystem::exists(paths_.LayerFolder(Layer(images[0], 0))));
}

}  // namespace
}  // namespace soci::test
