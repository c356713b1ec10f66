// The provider of layers as the daemon joins it, but for FUSE and the network: a registry in memory, and mounts that
// are noted down.
#pragma once

#include <gtest/gtest.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "fuse/fetch/fetch_scheduler.h"
#include "fuse/store/fd_cache.h"
#include "indexer/base/file_io.h"
#include "snapshotter/pull/layer_sync.h"
#include "snapshotter/pull/lazy_layer_provider.h"
#include "tests/fakes/fake_mounter.h"
#include "tests/support/temporary_directory.h"
#include "tests/unit/snapshotter/pull/indexed_image.h"

namespace soci::test {

struct ProviderParts {
  ProviderParts(const StatePaths& paths, RegistryClient& registry, Mounter& mounter, bool fill, bool unpack,
                LayerSync::Delay sync = {})
      : folders(paths),
        layer_sync(paths.LayersFolder(), sync),
        unpacks(registry, folders, layer_sync, {.window = {}}),
        sessions(registry, folders, SystemClock(), {}, unpack ? &unpacks : nullptr),
        parts{registry, scheduler, mounter, files, io, {}} {
    LiveLayers::Options options;
    options.fill = fill;
    options.seal_retry = {std::chrono::milliseconds(1), std::chrono::milliseconds(10)};
    options.seal_ended = [this](const oci::LayerDigest&, const Status& status) {
      std::lock_guard lock(mutex);
      seals.push_back(status);
      changed.notify_all();
    };
    live = std::make_unique<LiveLayers>(parts, folders, layer_sync, options);
    provider = std::make_unique<LazyLayerProvider>(sessions, *live, folders, SystemClock());
  }

  Status WaitForSeal() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return !seals.empty(); });
    return seals.back();
  }

  std::vector<Status> WaitForSeals(size_t count) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return seals.size() >= count; });
    return seals;
  }

  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Status> seals;
  FetchScheduler scheduler{SystemClock()};
  FdCache files;
  ThreadPool io{"cold-read", 1};
  LayerFolders folders;
  LayerSync layer_sync;
  LayerUnpacks unpacks;
  ImageSessions sessions;
  LiveLayer::Parts parts;
  std::unique_ptr<LiveLayers> live;
  std::unique_ptr<LazyLayerProvider> provider;
};

class ProviderTest : public ::testing::Test {
 protected:
  void Start(bool fill, bool unpack = false) {
    parts_ = std::make_unique<ProviderParts>(paths_, registry_, mounter_, fill, unpack, sync_);
  }
  void Stop() { parts_.reset(); }
  LazyLayerProvider& provider() { return *parts_->provider; }

  std::string Provide(const IndexedImage& image, size_t layer) {
    auto outcome = provider().Provide(image.RequestLabels(layer), "default", {});
    if (!outcome.ok()) return std::string(outcome.status().ToString());
    auto* deferred = std::get_if<LayerDeferred>(&*outcome);
    return deferred == nullptr ? "" : deferred->reason;
  }
  static oci::LayerDigest Layer(const IndexedImage& image, size_t layer) {
    return oci::LayerDigest(image.layers[layer].digest);
  }

  TemporaryDirectory folder_;
  const StatePaths paths_{folder_ / "state", folder_ / "run"};
  FakeRegistryClient registry_;
  FakeMounter mounter_;
  LayerSync::Delay sync_;
  std::unique_ptr<ProviderParts> parts_;

  void SetUp() override { ASSERT_TRUE(MakeDirectories(paths_.LinksFolder()).ok()); }
};

}  // namespace soci::test
