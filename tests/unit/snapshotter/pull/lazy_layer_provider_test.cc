#include "snapshotter/pull/lazy_layer_provider.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <condition_variable>
#include <future>

#include "indexer/base/file_io.h"
#include "snapshotter/pull/list_folder.h"
#include "snapshotter/unpack/unsynced_mark.h"
#include "tests/unit/snapshotter/pull/provider_fixture.h"
#include "tests/unit/snapshotter/pull/sync_count.h"
#include "tests/ztoc/ztoc_value.h"

namespace soci {
namespace {

using test::IndexedImage;
using test::PushIndexedImage;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

bool Exists(const std::string& path) {
  struct stat attributes {};
  return ::lstat(path.c_str(), &attributes) == 0;
}

constexpr auto kDisk = LayerProvider::RestoreFrom::kDisk;
constexpr auto kAnywhere = LayerProvider::RestoreFrom::kAnywhere;

class LazyLayerProviderTest : public test::ProviderTest {};

TEST_F(LazyLayerProviderTest, C9ALayerIsMountedWithTheLabelsThatCriSends) {
  const IndexedImage image = PushIndexedImage(registry_, {"one", "two"});
  Start(false);
  auto outcome = provider().Provide(image.RequestLabels(0), "k8s.io", {});
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  const auto& provided = std::get<LayerProvided>(*outcome);
  EXPECT_EQ(provided.layer, Layer(image, 0));
  EXPECT_EQ(provided.extra_labels.at("containerd.io/snapshot/remote"), "remote snapshot");
  EXPECT_EQ(provided.extra_labels.at("containerd.io/snapshot/remote/namespace"), "k8s.io");
  const std::string lower = provider().LowerDirectory(Layer(image, 0)).value();
  EXPECT_THAT(lower, AnyOf(paths_.MountPoint(1), paths_.MountPoint(2))) << "numbers go by who is ready first";
  EXPECT_TRUE(mounter_.IsMounted(lower));
}

TEST_F(LazyLayerProviderTest, C10WithoutImageLabelsTheLayerIsDeferredNamingTheLabel) {
  Start(false);
  auto outcome = provider().Provide({{std::string(oci::kLabelSnapshotRef), "sha256:x"}}, "default", {});
  ASSERT_TRUE(outcome.ok());
  EXPECT_THAT(std::get<LayerDeferred>(*outcome).reason, HasSubstr("cri.image-ref is missing"));
  ASSERT_EQ(provider().Deferrals().size(), 1u);
  EXPECT_THAT(provider().Deferrals()[0].reason, HasSubstr("cri.image-ref is missing"));
}

TEST_F(LazyLayerProviderTest, LayersWithoutATableAreDeferredAndTheOthersAreNot) {
  const IndexedImage image = PushIndexedImage(registry_, {"one", "two"}, {1});
  Start(false);
  EXPECT_EQ(Provide(image, 0), "");
  EXPECT_THAT(Provide(image, 1), HasSubstr("has no zTOC"));
  EXPECT_FALSE(std::get<LayerDeferred>(provider().Provide(image.RequestLabels(1), "default", {}).value()).told);
}

TEST_F(LazyLayerProviderTest, ReleasingALayerThatWasDeferredKeepsWhatIsKnownOfItsImage) {
  const IndexedImage image = PushIndexedImage(registry_, {"one", "two"}, {0});
  Start(false);
  EXPECT_THAT(Provide(image, 0), HasSubstr("has no zTOC"));
  EXPECT_TRUE(provider().Release(Layer(image, 0)).ok());
  const size_t requests = registry_.requests().size();
  EXPECT_EQ(Provide(image, 1), "");
  EXPECT_EQ(registry_.requests().size(), requests + 1) << "the layer itself is opened, nothing is searched again";
}

TEST_F(LazyLayerProviderTest, AnImageWithoutIndexIsDeferred) {
  const IndexedImage image = PushIndexedImage(registry_, {"one"}, {}, false);
  Start(false);
  EXPECT_THAT(Provide(image, 0), HasSubstr("no SOCI index"));
  auto outcome = provider().Provide(image.RequestLabels(0), "default", {});
  ASSERT_TRUE(outcome.ok());
  EXPECT_TRUE(std::get<LayerDeferred>(*outcome).told) << "the image's own line says it, not one for each layer";
}

TEST_F(LazyLayerProviderTest, WithoutAnIndexEveryLayerIsUnpackedFromTheFirstPrepareOnAndIsADirectoryAtOnce) {
  const std::string content = test::NoiseBytes(300 << 10, 1);
  const IndexedImage image = PushIndexedImage(registry_, {"one", content}, {}, false);
  Start(true, true);
  ASSERT_EQ(Provide(image, 0), "");
  const size_t requests = registry_.requests().size();
  ASSERT_EQ(Provide(image, 1), "");
  EXPECT_LE(registry_.requests().size(), requests + 1) << "nothing is searched again; its bytes were asked for before";
  const std::string lower = provider().LowerDirectory(Layer(image, 1)).value();
  EXPECT_THAT(lower, AnyOf(paths_.SealedLink(1), paths_.SealedLink(2)));
  EXPECT_EQ(ReadFile(lower + "/d/file").value(), content);
  EXPECT_EQ(mounter_.mounted(), 0u);
  EXPECT_EQ(parts_->live->Report().at(0).state, LayerState::kSealed);
  for (size_t i : {0, 1}) EXPECT_TRUE(provider().Release(Layer(image, i)).ok());
  EXPECT_FALSE(provider().LowerDirectory(Layer(image, 0)).ok());
}

TEST_F(LazyLayerProviderTest, LayersWithoutAZtocAreUnpackedBesideLazyOnes) {
  const IndexedImage image = PushIndexedImage(registry_, {"one", "two"}, {1});
  Start(false, true);
  EXPECT_EQ(Provide(image, 0), "");
  EXPECT_EQ(Provide(image, 1), "");
  EXPECT_THAT(provider().LowerDirectory(Layer(image, 0)).value(), AnyOf(paths_.MountPoint(1), paths_.MountPoint(2)));
  EXPECT_EQ(ReadFile(provider().LowerDirectory(Layer(image, 1)).value() + "/d/file").value(), "two");
}

TEST_F(LazyLayerProviderTest, ALayerThatCannotBeUnpackedIsDeferredAndLeavesNothing) {
  const IndexedImage image = PushIndexedImage(registry_, {"one"}, {}, false);
  registry_.fail = [](const std::string& request) {
    return request.rfind("OPEN", 0) == 0 ? absl::UnavailableError("no network") : OkStatus();
  };
  Start(true, true);
  EXPECT_THAT(Provide(image, 0), HasSubstr("no network"));
  EXPECT_THAT(ListFolder(paths_.LayersFolder()), IsEmpty());
  EXPECT_THAT(ListFolder(paths_.state + "/layers/unpacking"), IsEmpty());
}

TEST_F(LazyLayerProviderTest, AnUnpackedLayerIsThereAfterARestartWithoutTheRegistry) {
  const IndexedImage image = PushIndexedImage(registry_, {"one"}, {}, false);
  Start(true, true);
  ASSERT_EQ(Provide(image, 0), "");
  Stop();
  registry_.fail = [](const std::string&) { return absl::UnavailableError("no network"); };
  Start(true, true);
  EXPECT_TRUE(provider().Restore(Layer(image, 0), image.RequestLabels(0), kAnywhere).ok());
  EXPECT_EQ(ReadFile(provider().LowerDirectory(Layer(image, 0)).value() + "/d/file").value(), "one");
}

TEST_F(LazyLayerProviderTest, ALayerThatNobodyWaitsForAnyMoreIsNotUnpacked) {
  const IndexedImage image = PushIndexedImage(registry_, {"one", "two"}, {}, false);
  Start(true, true);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_TRUE(absl::IsCancelled(provider().Provide(image.RequestLabels(1), "default", stop.get_token()).status()));
  EXPECT_THAT(parts_->unpacks.Report(), IsEmpty());
  EXPECT_EQ(Provide(image, 0), "") << "it may be asked for again";
  EXPECT_EQ(Provide(image, 1), "");
}

TEST_F(LazyLayerProviderTest, AnUnpackedLayerThatAPowerLossTookIsFetchedAgainButNotWhileTheDaemonStarts) {
  const IndexedImage image = PushIndexedImage(registry_, {"one"}, {}, false);
  Start(true, true);
  ASSERT_EQ(Provide(image, 0), "");
  Stop();
  BootId other = ThisBoot();
  other[0] ^= std::byte{1};
  ASSERT_TRUE(MarkUnsynced(paths_.LayerFolder(Layer(image, 0)), other).ok());
  Start(true, true);
  const size_t asked = registry_.requests().size();
  EXPECT_TRUE(absl::IsUnavailable(provider().Restore(Layer(image, 0), image.RequestLabels(0), kDisk)));
  EXPECT_EQ(registry_.requests().size(), asked);
  EXPECT_TRUE(provider().Restore(Layer(image, 0), image.RequestLabels(0), kAnywhere).ok());
  EXPECT_EQ(ReadFile(provider().LowerDirectory(Layer(image, 0)).value() + "/d/file").value(), "one");
  provider().CollectUnused();
  EXPECT_THAT(ListFolder(paths_.state + "/layers/gone"), IsEmpty());
}

TEST_F(LazyLayerProviderTest, ACompleteLayerIsSealedAndItsDirectoryIsUsedFromThenOn) {
  const std::string content = test::NoiseBytes(300 << 10, 1);
  const IndexedImage image = PushIndexedImage(registry_, {content});
  Start(true);
  ASSERT_EQ(Provide(image, 0), "");
  ASSERT_TRUE(parts_->WaitForSeal().ok()) << parts_->seals.back();
  const std::string lower = provider().LowerDirectory(Layer(image, 0)).value();
  EXPECT_EQ(lower, paths_.SealedLink(1));
  EXPECT_EQ(ReadFile(lower + "/d/file").value(), content);
  EXPECT_TRUE(mounter_.IsMounted(paths_.MountPoint(1))) << "containers may hold it";
  EXPECT_EQ(parts_->live->Report().at(0).state, LayerState::kSealed);
}

TEST_F(LazyLayerProviderTest, G1ReleaseLeavesNothing) {
  const IndexedImage image = PushIndexedImage(registry_, {"one", "two"});
  Start(true);
  for (size_t i : {0, 1}) ASSERT_EQ(Provide(image, i), "");
  ASSERT_TRUE(parts_->WaitForSeal().ok());
  for (size_t i : {0, 1}) EXPECT_TRUE(provider().Release(Layer(image, i)).ok());
  for (uint32_t number : {1, 2}) EXPECT_FALSE(mounter_.IsMounted(paths_.MountPoint(number)));
  EXPECT_THAT(ListFolder(paths_.LayersFolder()), IsEmpty());
  EXPECT_THAT(ListFolder(paths_.LinksFolder()), IsEmpty());
  EXPECT_FALSE(provider().LowerDirectory(Layer(image, 0)).ok());
}

TEST_F(LazyLayerProviderTest, ALayerOfTwoImagesIsMountedOnceAndItsTableIsSharedUntilBothAreGone) {
  const IndexedImage first = PushIndexedImage(registry_, {"shared", "one"});
  const IndexedImage second = PushIndexedImage(registry_, {"shared", "two"}, {}, true, "registry.example/app:v2");
  Start(false);
  ASSERT_EQ(Provide(first, 0), "");
  ASSERT_EQ(Provide(second, 0), "");
  ASSERT_EQ(Provide(second, 1), "");
  EXPECT_EQ(mounter_.mounted(), 2u);
  EXPECT_TRUE(provider().Release(Layer(second, 1)).ok());
  EXPECT_FALSE(Exists(paths_.LayerFolder(Layer(second, 1))));
  EXPECT_TRUE(Exists(paths_.LayerFolder(Layer(first, 0))));
  EXPECT_TRUE(provider().Release(Layer(first, 0)).ok());
  EXPECT_THAT(ListFolder(paths_.LayersFolder()), IsEmpty());
}

TEST_F(LazyLayerProviderTest, ARestartMountsAtTheSamePlaceWithoutAskingTheRegistry) {
  const IndexedImage image = PushIndexedImage(registry_, {"one", "two"});
  Start(false);
  for (size_t i : {0, 1}) ASSERT_EQ(Provide(image, i), "");
  const std::string place = provider().LowerDirectory(Layer(image, 1)).value();
  Stop();
  EXPECT_FALSE(mounter_.IsMounted(place));
  registry_.fail = [](const std::string& request) {
    return request.rfind("OPEN", 0) == 0 ? OkStatus() : absl::UnavailableError("no network");
  };
  Start(false);
  for (size_t i : {1, 0}) EXPECT_TRUE(provider().Restore(Layer(image, i), image.RequestLabels(i), kAnywhere).ok());
  EXPECT_EQ(provider().LowerDirectory(Layer(image, 1)).value(), place);
  EXPECT_TRUE(mounter_.IsMounted(place));
}

TEST_F(LazyLayerProviderTest, F6ASealedLayerNeedsNoMountAndNoRegistryAfterARestart) {
  const IndexedImage image = PushIndexedImage(registry_, {"one"});
  Start(true);
  ASSERT_EQ(Provide(image, 0), "");
  ASSERT_TRUE(parts_->WaitForSeal().ok());
  Stop();
  registry_.fail = [](const std::string&) { return absl::UnavailableError("no network"); };
  const size_t mounted = mounter_.mounted();
  Start(true);
  EXPECT_TRUE(provider().Restore(Layer(image, 0), image.RequestLabels(0), kAnywhere).ok());
  EXPECT_EQ(mounter_.mounted(), mounted);
  EXPECT_EQ(ReadFile(provider().LowerDirectory(Layer(image, 0)).value() + "/d/file").value(), "one");
}

TEST_F(LazyLayerProviderTest, ALayerThatCannotBeMountedAgainKeepsItsBytesForALaterTry) {
  const IndexedImage image = PushIndexedImage(registry_, {"one"});
  Start(false);
  ASSERT_EQ(Provide(image, 0), "");
  Stop();
  Start(false);
  mounter_.next_error = absl::FailedPreconditionError("/dev/fuse is missing");
  EXPECT_FALSE(provider().Restore(Layer(image, 0), image.RequestLabels(0), kAnywhere).ok());
  provider().CollectUnused();
  EXPECT_TRUE(Exists(paths_.LayerFolder(Layer(image, 0)) + "/table"));
  EXPECT_TRUE(provider().Restore(Layer(image, 0), image.RequestLabels(0), kAnywhere).ok());
}

TEST_F(LazyLayerProviderTest, AFolderThatIsOfNoUseAfterARestartIsMadeAgainFromTheLabels) {
  const IndexedImage image = PushIndexedImage(registry_, {"one"});
  Start(false);
  ASSERT_EQ(Provide(image, 0), "");
  Stop();
  ASSERT_TRUE(WriteFileAtomic(paths_.LayerFolder(Layer(image, 0)) + "/origin.json", "{").ok());
  Start(false);
  EXPECT_TRUE(provider().Restore(Layer(image, 0), image.RequestLabels(0), kAnywhere).ok());
  EXPECT_TRUE(mounter_.IsMounted(paths_.MountPoint(1)));
}

TEST_F(LazyLayerProviderTest, G7WhatNoSnapshotUsesAfterARestartIsCollected) {
  const IndexedImage image = PushIndexedImage(registry_, {"one", "two"});
  Start(false);
  ASSERT_EQ(Provide(image, 0), "");
  Stop();
  Start(false);
  ASSERT_TRUE(provider().Restore(Layer(image, 0), image.RequestLabels(0), kAnywhere).ok());
  ASSERT_TRUE(MakeDirectories(paths_.MountPoint(9)).ok());
  provider().CollectUnused();
  EXPECT_EQ(ListFolder(paths_.LayersFolder()).size(), 1u);
  EXPECT_FALSE(Exists(paths_.MountPoint(9)));
}

TEST_F(LazyLayerProviderTest, ASealedLayerServesImagesWhoseIndexNamesAnotherZtoc) {
  const IndexedImage first = PushIndexedImage(registry_, {"same"});
  const auto other_tool = [](size_t, test::Ztoc& ztoc) { ztoc.build_tool = "another tool"; };
  const IndexedImage second = PushIndexedImage(registry_, {"same"}, {}, true, "registry.example/b:v1", other_tool);
  ASSERT_EQ(first.layers[0].digest, second.layers[0].digest);
  ASSERT_NE(first.ztocs[0].digest, second.ztocs[0].digest);
  Start(true);
  ASSERT_EQ(Provide(first, 0), "");
  ASSERT_TRUE(parts_->WaitForSeal().ok());
  Stop();
  Start(true);
  const std::string folder = paths_.LayerFolder(Layer(first, 0));
  EXPECT_TRUE(Exists(folder + "/fs"));
  EXPECT_EQ(Provide(second, 0), "");
  EXPECT_EQ(parts_->live->Report().at(0).state, LayerState::kSealed);
}

TEST_F(LazyLayerProviderTest, MountingALayerSyncsNothing) {
  const IndexedImage image = PushIndexedImage(registry_, {"one", "two", "three"});
  Start(false);
  const int before = test::SyncCount();
  for (size_t i = 0; i < image.layers.size(); ++i) ASSERT_EQ(Provide(image, i), "");
  EXPECT_EQ(test::SyncCount(), before);
}

// What containerd's own pull does not wait for either; the disk is asked once for all of them when they are there.
TEST_F(LazyLayerProviderTest, LayersAreFilledAndSealedAndUnpackedWithoutWaitingForTheDisk) {
  std::vector<std::string> contents;
  for (size_t i = 0; i < 12; ++i) contents.push_back(test::NoiseBytes(50'000, static_cast<uint32_t>(i)));
  const IndexedImage lazy = PushIndexedImage(registry_, contents);
  const IndexedImage whole = PushIndexedImage(registry_, {"x", "y", "z"}, {}, false, "registry.example/whole:v1");
  sync_.quiet = sync_.longest = std::chrono::hours(1);
  Start(true, true);
  const int before = test::SyncCount();
  for (size_t i = 0; i < contents.size(); ++i) ASSERT_EQ(Provide(lazy, i), "");
  for (size_t i = 0; i < 3; ++i) ASSERT_EQ(Provide(whole, i), "");
  for (const Status& sealed : parts_->WaitForSeals(contents.size())) ASSERT_TRUE(sealed.ok()) << sealed;
  for (const LayerReport& report : parts_->live->Report()) EXPECT_EQ(report.state, LayerState::kSealed);
  EXPECT_EQ(test::SyncCount(), before);
}

TEST_F(LazyLayerProviderTest, SealedAndUnpackedLayersShareOneSync) {
  const IndexedImage lazy = PushIndexedImage(registry_, {"a", "b", "c", "d"});
  const IndexedImage whole = PushIndexedImage(registry_, {"x", "y", "z"}, {}, false, "registry.example/whole:v1");
  sync_ = {std::chrono::milliseconds(0), std::chrono::milliseconds(0)};
  Start(true, true);
  ASSERT_TRUE(MakeDirectories(paths_.LayersFolder()).ok());
  std::promise<void> begun, all_came, done;
  parts_->layer_sync.Later([&] {
    begun.set_value();
    all_came.get_future().wait();
  });
  begun.get_future().wait();
  const int before = test::SyncCount();
  for (size_t i = 0; i < 4; ++i) ASSERT_EQ(Provide(lazy, i), "");
  for (size_t i = 0; i < 3; ++i) ASSERT_EQ(Provide(whole, i), "");
  for (const Status& sealed : parts_->WaitForSeals(4)) ASSERT_TRUE(sealed.ok()) << sealed;
  parts_->layer_sync.Later([&] { done.set_value(); });
  all_came.set_value();
  done.get_future().wait();
  EXPECT_EQ(test::SyncCount(), before + 1);
  for (size_t i = 0; i < 4; ++i) EXPECT_FALSE(Exists(paths_.LayerFolder(Layer(lazy, i)) + "/presence"));
  for (size_t i = 0; i < 3; ++i) EXPECT_FALSE(Exists(paths_.LayerFolder(Layer(whole, i)) + "/unsynced"));
}

TEST_F(LazyLayerProviderTest, ASealedLayerIsSettledWhenTheDiskHasItAndIfNeedBeByTheNextProcess) {
  const IndexedImage image = PushIndexedImage(registry_, {"one"});
  const std::string presence = paths_.LayerFolder(Layer(image, 0)) + "/presence";
  sync_.quiet = sync_.longest = std::chrono::hours(1);
  Start(true);
  ASSERT_EQ(Provide(image, 0), "");
  ASSERT_TRUE(parts_->WaitForSeal().ok());
  Stop();
  EXPECT_TRUE(Exists(presence));
  sync_ = {std::chrono::milliseconds(0), std::chrono::milliseconds(0)};
  Start(true);
  EXPECT_TRUE(provider().Restore(Layer(image, 0), image.RequestLabels(0), kAnywhere).ok());
  while (Exists(presence)) std::this_thread::yield();
  EXPECT_EQ(ReadFile(provider().LowerDirectory(Layer(image, 0)).value() + "/d/file").value(), "one");
}

// As on a full disk: what the disk refuses is tried again, without a restart.
TEST_F(LazyLayerProviderTest, ALayerThatTheDiskDoesNotLetBeSealedIsSealedLater) {
  const IndexedImage image = PushIndexedImage(registry_, {"one"});
  const std::string obstacle = paths_.LayerFolder(Layer(image, 0)) + "/fs.partial";
  registry_.fail = [&](const std::string& request) {
    // The layer's files are open, and nothing has come yet.
    return request.find("OPEN") == 0 ? ReplaceFile(obstacle, "no folder") : OkStatus();
  };
  Start(true);
  ASSERT_EQ(Provide(image, 0), "");
  for (const Status& sealed : parts_->WaitForSeals(3)) EXPECT_FALSE(sealed.ok());
  EXPECT_EQ(parts_->live->ReportOf(Layer(image, 0))->state, LayerState::kComplete);
  ASSERT_TRUE(RemoveTree(obstacle).ok());
  while (!parts_->WaitForSeal().ok()) std::this_thread::yield();
  EXPECT_EQ(parts_->live->ReportOf(Layer(image, 0))->state, LayerState::kSealed);
}

TEST_F(LazyLayerProviderTest, ALayerWhoseIndexLiesIsNeverSealedAndIsDeferredFromThenOn) {
  const IndexedImage image = PushIndexedImage(registry_, {"one"}, {}, true, "registry.example/app:v1",
                                              [](size_t, test::Ztoc& ztoc) { ztoc.entries.back().mode = 04755; });
  Start(false);
  ASSERT_EQ(Provide(image, 0), "");
  // Found out when the span with that header arrives.
  LayerReader* reader = mounter_.LayerAt(paths_.MountPoint(1));
  ASSERT_NE(reader, nullptr);
  const auto directory = reader->table().Lookup(InodeId::kRoot, "d");
  const auto file = reader->table().Lookup(*directory, "file");
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<Status> answer;
  reader->Read(*file, 0, 3, [&](Result<ByteSpan> bytes) {
    std::lock_guard lock(mutex);
    answer = bytes.status();
    changed.notify_all();
  });
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return answer.has_value(); });
  }
  EXPECT_FALSE(answer->ok());
  EXPECT_THAT(Provide(image, 0), HasSubstr("found to be false"));
  EXPECT_EQ(parts_->live->Report().at(0).state, LayerState::kCondemned);
  // A container that starts now is refused, with the way out, instead of finding EIO everywhere.
  EXPECT_THAT(Message(provider().LowerDirectory(Layer(image, 0)).status()), HasSubstr("pull it again"));
  EXPECT_TRUE(provider().Release(Layer(image, 0)).ok());
  EXPECT_THAT(Provide(image, 0), HasSubstr("found to be false"));
}

}  // namespace
}  // namespace soci
