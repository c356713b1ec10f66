// Layers that are fetched from before they are mounted: as soon as their own table is there.
#include <gmock/gmock.h>

#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "fuse/fetch/layer_fetcher.h"
#include "snapshotter/pull/list_folder.h"
#include "tests/unit/snapshotter/pull/provider_fixture.h"

namespace soci {
namespace {

using test::IndexedImage;
using test::PushIndexedImage;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// What would replay: fetches the first span of every layer that it hears of.
class NotingWatch : public LayerWatch {
 public:
  void LayerOpened(const WatchedLayer& layer) override {
    {
      std::lock_guard lock(mutex_);
      open_[layer.layer] = layer;
    }
    layer.fetcher->Replay({SpanId{0}}, [this, digest = layer.layer](SpanId, const Status& status) {
      std::lock_guard lock(mutex_);
      came_[digest] = absl::IsAlreadyExists(status) ? OkStatus() : status;
      changed_.notify_all();
    });
  }
  void LayerClosing(const oci::LayerDigest& layer) override {
    std::lock_guard lock(mutex_);
    open_.erase(layer);
  }

  Status WaitForSpan(const oci::LayerDigest& layer) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return came_.count(layer) > 0; });
    return came_[layer];
  }
  bool IsOpen(const oci::LayerDigest& layer) const {
    std::lock_guard lock(mutex_);
    return open_.count(layer) > 0;
  }
  LayerFetcher* FetcherOf(const oci::LayerDigest& layer) const {
    std::lock_guard lock(mutex_);
    return open_.at(layer).fetcher;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<oci::LayerDigest, WatchedLayer> open_;
  std::map<oci::LayerDigest, Status> came_;
};

class EarlyLayersTest : public test::ProviderTest {
 protected:
  EarlyLayersTest() { watch_ = &noting_; }
  ~EarlyLayersTest() override { Stop(); }

  bool IsAnythingMounted() const {
    for (uint32_t number = 1; number < 5; ++number) {
      if (mounter_.IsMounted(paths_.MountPoint(number))) return true;
    }
    return false;
  }

  NotingWatch noting_;
};

TEST_F(EarlyLayersTest, ALayersBytesComeWhileTheTableOfAnotherIsStillBeingFetched) {
  const IndexedImage image = PushIndexedImage(registry_, {"one", "two"});
  const std::string slow = "GET blobs " + image.ztocs[0].digest.ToString();
  registry_.fail = [&](const std::string& request) {
    return request == slow ? noting_.WaitForSpan(Layer(image, 1)) : OkStatus();
  };
  Start(false);
  EXPECT_EQ(Provide(image, 0), "");
  EXPECT_FALSE(parts_->live->IsLive(Layer(image, 1))) << "nobody asked for its mount";
  EXPECT_EQ(mounter_.mounted(), 1u);
  LayerFetcher* const early = noting_.FetcherOf(Layer(image, 1));
  EXPECT_EQ(Provide(image, 1), "");
  EXPECT_EQ(noting_.FetcherOf(Layer(image, 1)), early) << "what was fetched is not lost";
  while (parts_->live->ReportOf(Layer(image, 1))->spans_present == 0) std::this_thread::yield();
  EXPECT_EQ(mounter_.mounted(), 2u);
}

TEST_F(EarlyLayersTest, ALayerWhoseMountNeverComesLeavesNothingWhenItsImageIsRemoved) {
  const IndexedImage image = PushIndexedImage(registry_, {"one", "two"});
  Start(false);
  ASSERT_EQ(Provide(image, 0), "");
  ASSERT_TRUE(noting_.IsOpen(Layer(image, 1)));
  EXPECT_TRUE(provider().Release(Layer(image, 0)).ok());
  EXPECT_FALSE(noting_.IsOpen(Layer(image, 1)));
  EXPECT_THAT(ListFolder(paths_.LayersFolder()), IsEmpty());
  EXPECT_FALSE(IsAnythingMounted());
}

TEST_F(EarlyLayersTest, NorWhenItsPullWasGivenUp) {
  const IndexedImage image = PushIndexedImage(registry_, {"one", "two"});
  Start(false);
  ASSERT_TRUE(parts_->sessions.Get(image.Request(0)).ok());
  ASSERT_TRUE(noting_.IsOpen(Layer(image, 0)));
  parts_->sessions.ForgetIdle(std::chrono::milliseconds(0), [](const oci::LayerDigest&) { return false; });
  EXPECT_FALSE(noting_.IsOpen(Layer(image, 0)));
  EXPECT_FALSE(noting_.IsOpen(Layer(image, 1)));
  EXPECT_THAT(ListFolder(paths_.LayersFolder()), IsEmpty());
  EXPECT_EQ(Provide(image, 1), "") << "and it can be pulled again";
}

TEST_F(EarlyLayersTest, ALayerOfTwoImagesStaysWhileOneOfThemIsKnown) {
  const IndexedImage first = PushIndexedImage(registry_, {"same", "one"});
  const IndexedImage second = PushIndexedImage(registry_, {"same", "two"}, {}, true, "registry.example/b:v1");
  ASSERT_EQ(first.layers[0].digest, second.layers[0].digest);
  Start(false);
  ASSERT_EQ(Provide(first, 1), "");
  ASSERT_EQ(Provide(second, 1), "");
  EXPECT_TRUE(provider().Release(Layer(first, 1)).ok());
  EXPECT_EQ(Provide(second, 0), "");
  EXPECT_TRUE(noting_.WaitForSpan(Layer(second, 0)).ok());
  EXPECT_TRUE(provider().Release(Layer(second, 1)).ok());
  EXPECT_TRUE(noting_.IsOpen(Layer(second, 0))) << "it is mounted";
}

TEST_F(EarlyLayersTest, AFalseIndexThatIsFoundOutBeforeTheMountIsNotMounted) {
  const IndexedImage image = PushIndexedImage(registry_, {"one", "two"}, {}, true, "registry.example/app:v1",
                                              [](size_t, test::Ztoc& ztoc) { ztoc.entries.back().mode = 04755; });
  Start(false);
  ASSERT_TRUE(parts_->sessions.Get(image.Request(0)).ok());
  EXPECT_FALSE(noting_.WaitForSpan(Layer(image, 0)).ok());
  EXPECT_THAT(Provide(image, 0), HasSubstr("found to be false"));
  EXPECT_FALSE(IsAnythingMounted());
}

TEST_F(EarlyLayersTest, TheDaemonStopsWithLayersThatAreNotMounted) {
  const IndexedImage image = PushIndexedImage(registry_, {"one", "two"});
  Start(false);
  ASSERT_EQ(Provide(image, 0), "");
  auto known = parts_->sessions.Get(image.Request(0));
  ASSERT_TRUE(known.ok());
  ASSERT_TRUE(noting_.WaitForSpan(Layer(image, 1)).ok());
  parts_->provider.reset();
  parts_->live.reset();
  EXPECT_FALSE(noting_.IsOpen(Layer(image, 1)));
  known = absl::CancelledError("the wish for it goes after the layers");
}

TEST_F(EarlyLayersTest, ManyPullsAndRemovalsAtOnceEndWithNothing) {
  const IndexedImage image = PushIndexedImage(registry_, {"one", "two", "three"});
  Start(false);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < 3; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 20; ++round) {
        (void)Provide(image, i);
        (void)provider().Release(Layer(image, i));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  parts_->sessions.ForgetIdle(std::chrono::milliseconds(0), [](const oci::LayerDigest&) { return false; });
  for (size_t i = 0; i < 3; ++i) EXPECT_FALSE(noting_.IsOpen(Layer(image, i)));
  EXPECT_FALSE(IsAnythingMounted());
  EXPECT_THAT(ListFolder(paths_.LayersFolder()), IsEmpty());
}

}  // namespace
}  // namespace soci
