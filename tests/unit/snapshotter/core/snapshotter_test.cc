#include "snapshotter/core/snapshotter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <future>
#include <thread>

#include "indexer/base/file_io.h"
#include "indexer/oci/annotations.h"
#include "tests/fakes/fake_layer_provider.h"
#include "tests/support/temporary_directory.h"

namespace soci {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;
using ::testing::SizeIs;

constexpr auto kAlreadyExists = absl::StatusCode::kAlreadyExists;
constexpr auto kNotFound = absl::StatusCode::kNotFound;
constexpr auto kUnavailable = absl::StatusCode::kUnavailable;

oci::LayerDigest Layer(int number) { return oci::LayerDigest(oci::Digest::Of(std::to_string(number))); }

// What CRI puts on the Prepare of layer `number`, and nothing else.
Labels CriLabels(int number) {
  return {{std::string(oci::kLabelSnapshotRef), "chain-" + std::to_string(number)},
          {std::string(oci::kLabelImageRef), "registry.example/app:1"},
          {std::string(oci::kLabelManifestDigest), oci::Digest::Of("manifest").ToString()},
          {std::string(oci::kLabelLayerDigest), Layer(number).ToString()},
          {std::string(oci::kLabelImageLayers), Layer(number).ToString()}};
}

class SnapshotterTest : public ::testing::Test {
 protected:
  void SetUp() override { Start(); }
  void Start() {
    Result<std::unique_ptr<Metastore>> opened = Metastore::Open(folder_ / "metadata.db");
    ASSERT_TRUE(opened.ok()) << opened.status();
    metastore_ = *std::move(opened);
    provider_ = std::make_unique<test::FakeLayerProvider>(folder_ / "m");
    snapshotter_ = std::make_unique<Snapshotter>(*metastore_, *provider_,
                                                 Snapshotter::Options{folder_.path(), folder_ / "run", {}, 2});
  }
  void Stop() {
    snapshotter_.reset();
    provider_.reset();
    metastore_.reset();
  }
  Status PrepareLayer(int number, const std::string& parent) {
    return snapshotter_->Prepare("key-" + std::to_string(number), parent, CriLabels(number), "k8s.io").status();
  }
  std::string Snapshots(const std::string& name) const { return folder_ / "snapshots/" + name; }
  size_t FolderCount() const { return SnapshotFolders(folder_ / "snapshots").Names()->size(); }

  test::TemporaryDirectory folder_;
  std::unique_ptr<Metastore> metastore_;
  std::unique_ptr<test::FakeLayerProvider> provider_;
  std::unique_ptr<Snapshotter> snapshotter_;
};

TEST_F(SnapshotterTest, AnOrdinarySnapshotIsPreparedCommittedAndBuiltUpon) {
  Result<std::vector<Mount>> mounts = snapshotter_->Prepare("a", "", {}, "default");
  ASSERT_TRUE(mounts.ok()) << mounts.status();
  EXPECT_THAT(*mounts, ElementsAre(Mount{"bind", Snapshots("1/fs"), {"rw", "rbind"}}));
  ASSERT_TRUE(WriteFileAtomic(Snapshots("1/fs/file"), std::string(5000, 'x')).ok());
  ASSERT_TRUE(snapshotter_->Commit("layer", "a", {}).ok());
  EXPECT_GE(snapshotter_->Usage("layer")->bytes, 5000u);
  EXPECT_EQ(snapshotter_->Usage("layer")->inodes, 2u);

  mounts = snapshotter_->Prepare("b", "layer", {}, "default");
  ASSERT_TRUE(mounts.ok());
  EXPECT_EQ(mounts->front().type, "overlay");
  EXPECT_THAT(mounts->front().options,
              ElementsAre("index=off", "metacopy=off", "redirect_dir=off", "xino=off", "workdir=" + Snapshots("2/work"),
                          "upperdir=" + Snapshots("2/fs"), "lowerdir=" + Snapshots("1/fs")));
  EXPECT_EQ(*snapshotter_->Mounts("b"), *mounts);
  EXPECT_THAT(*snapshotter_->View("v", "layer", {}), ElementsAre(Mount{"bind", Snapshots("1/fs"), {"ro", "rbind"}}));
}

TEST_F(SnapshotterTest, UsageOfAnActiveSnapshotIsWhatItsFolderTakesNow) {
  ASSERT_TRUE(snapshotter_->Prepare("a", "", {}, "default").ok());
  EXPECT_EQ(snapshotter_->Usage("a")->inodes, 1u);
  ASSERT_TRUE(WriteFileAtomic(Snapshots("1/fs/file"), "x").ok());
  EXPECT_EQ(snapshotter_->Usage("a")->inodes, 2u);
  EXPECT_EQ(snapshotter_->Usage("none").status().code(), kNotFound);
}

// Field report C9.
TEST_F(SnapshotterTest, C9_PrepareWithOnlyTheLabelsCriSendsIsLazy) {
  provider_->Add(Layer(1));
  EXPECT_EQ(PrepareLayer(1, "").code(), kAlreadyExists);
  Result<Snapshot> snapshot = snapshotter_->Stat("chain-1");
  ASSERT_TRUE(snapshot.ok());
  EXPECT_EQ(snapshot->kind, SnapshotKind::kCommitted);
  EXPECT_EQ(snapshot->layer, Layer(1).ToString());
  EXPECT_THAT(snapshot->labels, Contains(Pair("containerd.io/snapshot.ref", "chain-1")));
  EXPECT_THAT(snapshot->labels, Contains(Pair("containerd.io/snapshot/remote", "remote snapshot")));
  EXPECT_THAT(snapshot->labels, Contains(Pair("containerd.io/snapshot/remote/namespace", "k8s.io")));
  EXPECT_THAT(snapshot->labels, Contains(Pair("containerd.io/snapshot/remote/has.soci.index.digest", "true")));
  EXPECT_EQ(snapshotter_->Stat("key-1").status().code(), kNotFound) << "the key is free again";
  EXPECT_EQ(snapshotter_->Usage("chain-1")->bytes, 12'345u);
  EXPECT_EQ(FolderCount(), 0u);
}

// Field report C10.
TEST_F(SnapshotterTest, C10_PrepareWithOnlyTheTargetLabelGoesTheOrdinaryWayAndSaysWhichLabelIsMissing) {
  ::testing::internal::CaptureStderr();
  Result<std::vector<Mount>> mounts =
      snapshotter_->Prepare("key", "", {{std::string(oci::kLabelSnapshotRef), "chain"}}, "default");
  const std::string log = ::testing::internal::GetCapturedStderr();
  ASSERT_TRUE(mounts.ok());
  EXPECT_EQ(mounts->front().type, "bind");
  EXPECT_THAT(log, HasSubstr(" info layer chain of an unnamed image is left to containerd: label "
                             "containerd.io/snapshot/cri.layer-digest is missing"));
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 1) << log;
  ASSERT_TRUE(snapshotter_->Commit("chain", "key", {{std::string(oci::kLabelSnapshotRef), "chain"}}).ok());
  EXPECT_FALSE(snapshotter_->Stat("chain")->remote());
}

TEST_F(SnapshotterTest, ContainerdFindsTheRemoteSnapshotByTargetAndParent) {
  provider_->Add(Layer(1));
  provider_->Add(Layer(2));
  ASSERT_EQ(PrepareLayer(1, "").code(), kAlreadyExists);
  ASSERT_EQ(PrepareLayer(2, "chain-1").code(), kAlreadyExists);
  const std::vector<Snapshot> found =
      *snapshotter_->Walk({R"(labels."containerd.io/snapshot.ref"==chain-2,parent=="chain-1")"});
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].name, "chain-2");
  EXPECT_EQ(snapshotter_->Walk({"labels.==="}).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(SnapshotterTest, LazyAndOrdinaryLayersMixInOneStack) {
  provider_->Add(Layer(2));
  ASSERT_TRUE(PrepareLayer(1, "").ok());
  ASSERT_TRUE(snapshotter_->Commit("default/1/chain-1", "key-1", {}).ok());
  ASSERT_EQ(PrepareLayer(2, "default/1/chain-1").code(), kAlreadyExists);
  Result<std::vector<Mount>> mounts = snapshotter_->Prepare("container", "chain-2", {}, "default");
  ASSERT_TRUE(mounts.ok()) << mounts.status();
  EXPECT_THAT(mounts->front().options, Contains("lowerdir=" + provider_->Folder(Layer(2)) + ":" + Snapshots("1/fs")));
}

TEST_F(SnapshotterTest, ASecondPrepareOfATargetAsksNobodyAndTwoAtOnceAgree) {
  provider_->Add(Layer(1));
  std::promise<void> both_inside;
  std::atomic<int> inside{0};
  std::shared_future<void> gate = both_inside.get_future().share();
  provider_->on_provide = [&](const Labels&) {
    if (++inside == 2) both_inside.set_value();
    gate.wait();
  };
  auto prepare = [&](const std::string& key) {
    return snapshotter_->Prepare(key, "", CriLabels(1), "k8s.io").status();
  };
  auto first = std::async(std::launch::async, prepare, "one");
  auto second = std::async(std::launch::async, prepare, "two");
  EXPECT_EQ(first.get().code(), kAlreadyExists);
  EXPECT_EQ(second.get().code(), kAlreadyExists);
  EXPECT_EQ(prepare("three").code(), kAlreadyExists);
  EXPECT_EQ(inside, 2);
  EXPECT_THAT(*snapshotter_->Walk({}), SizeIs(1));
  EXPECT_THAT(provider_->released(), IsEmpty());
}

// Field report C1.
TEST_F(SnapshotterTest, C1_WhileAProviderWaitsForTheNetworkEverythingElseWorks) {
  provider_->Add(Layer(1));
  std::promise<void> inside, go_on;
  std::shared_future<void> gate = go_on.get_future().share();
  provider_->on_provide = [&](const Labels&) {
    inside.set_value();
    gate.wait();
  };
  auto slow = std::async(std::launch::async, [&] { return PrepareLayer(1, ""); });
  inside.get_future().wait();
  EXPECT_TRUE(snapshotter_->Prepare("other", "", {}, "default").ok());
  EXPECT_TRUE(snapshotter_->Commit("committed", "other", {}).ok());
  EXPECT_TRUE(snapshotter_->Cleanup().ok());
  EXPECT_TRUE(snapshotter_->Remove("committed").ok());
  EXPECT_THAT(*snapshotter_->Walk({}), IsEmpty());
  go_on.set_value();
  EXPECT_EQ(slow.get().code(), kAlreadyExists);
}

TEST_F(SnapshotterTest, ABadKeyOrParentIsToldBeforeTheProviderIsAsked) {
  ASSERT_TRUE(snapshotter_->Prepare("taken", "", {}, "default").ok());
  EXPECT_EQ(snapshotter_->Prepare("taken", "", CriLabels(1), "n").status().code(), kAlreadyExists);
  EXPECT_EQ(snapshotter_->Prepare("k", "none", CriLabels(1), "n").status().code(), kNotFound);
  EXPECT_EQ(snapshotter_->Prepare("k", "taken", CriLabels(1), "n").status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(provider_->provides(), 0);
}

TEST_F(SnapshotterTest, ALayerIsReleasedWithItsLastSnapshotAndNotBefore) {
  provider_->Add(Layer(1));
  Labels other = CriLabels(1);
  other[std::string(oci::kLabelSnapshotRef)] = "another-chain";
  ASSERT_EQ(PrepareLayer(1, "").code(), kAlreadyExists);
  ASSERT_EQ(snapshotter_->Prepare("k", "", other, "default").status().code(), kAlreadyExists);
  ASSERT_TRUE(snapshotter_->Remove("chain-1").ok());
  ASSERT_TRUE(snapshotter_->Cleanup().ok());
  EXPECT_THAT(provider_->released(), IsEmpty());
  ASSERT_TRUE(snapshotter_->Remove("another-chain").ok());
  ASSERT_TRUE(snapshotter_->Cleanup().ok());
  EXPECT_THAT(provider_->released(), ElementsAre(Layer(1)));
  EXPECT_EQ(provider_->collections(), 2);
  EXPECT_THAT(provider_->namespaces(), ElementsAre("default", "k8s.io"));
}

TEST_F(SnapshotterTest, ALayerThatSomebodyIsAskingForOutlivesItsLastSnapshot) {
  provider_->Add(Layer(1));
  ASSERT_EQ(PrepareLayer(1, "").code(), kAlreadyExists);
  Labels other = CriLabels(1);
  other[std::string(oci::kLabelSnapshotRef)] = "another-chain";
  std::promise<void> inside, go_on;
  std::shared_future<void> gate = go_on.get_future().share();
  provider_->on_provide = [&](const Labels&) {
    inside.set_value();
    gate.wait();
  };
  auto slow = std::async(std::launch::async, [&] { return snapshotter_->Prepare("k", "", other, "n").status(); });
  inside.get_future().wait();
  ASSERT_TRUE(snapshotter_->Remove("chain-1").ok());
  ASSERT_TRUE(snapshotter_->Cleanup().ok());
  EXPECT_THAT(provider_->released(), IsEmpty());
  go_on.set_value();
  EXPECT_EQ(slow.get().code(), kAlreadyExists);
  EXPECT_THAT(provider_->released(), IsEmpty());
  EXPECT_THAT(provider_->live(), Contains(Layer(1)));
}

TEST_F(SnapshotterTest, RemoveTakesTheFolderAndRefusesAParent) {
  ASSERT_TRUE(snapshotter_->Prepare("a", "", {}, "default").ok());
  ASSERT_TRUE(snapshotter_->Commit("layer", "a", {}).ok());
  ASSERT_TRUE(snapshotter_->Prepare("b", "layer", {}, "default").ok());
  EXPECT_EQ(snapshotter_->Remove("layer").code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(snapshotter_->Remove("b").ok());
  EXPECT_TRUE(snapshotter_->Remove("layer").ok());
  EXPECT_EQ(snapshotter_->Remove("layer").code(), kNotFound);
  ASSERT_TRUE(snapshotter_->Cleanup().ok());
  EXPECT_EQ(FolderCount(), 0u);
}

TEST_F(SnapshotterTest, CleanupDeletesFoldersOfNoSnapshotAndKeepsTheOthers) {
  ASSERT_TRUE(snapshotter_->Prepare("a", "", {}, "default").ok());
  ASSERT_TRUE(MakeDirectories(Snapshots("999/fs")).ok());
  ASSERT_TRUE(MakeDirectories(Snapshots("gone-5/fs")).ok());
  ASSERT_TRUE(snapshotter_->Cleanup().ok());
  EXPECT_EQ(FolderCount(), 1u);
  EXPECT_TRUE(std::filesystem::exists(Snapshots("1/fs")));
}

TEST_F(SnapshotterTest, AfterARestartLayersAreMountedAgainAndActiveSnapshotsStay) {
  provider_->Add(Layer(1));
  provider_->Add(Layer(2));
  ASSERT_EQ(PrepareLayer(1, "").code(), kAlreadyExists);
  ASSERT_EQ(PrepareLayer(2, "chain-1").code(), kAlreadyExists);
  const std::vector<Mount> before = *snapshotter_->Prepare("container", "chain-2", {}, "default");
  Stop();
  Start();
  ASSERT_TRUE(snapshotter_->Restore().ok());
  EXPECT_EQ(provider_->restores(), 2);
  EXPECT_EQ(*snapshotter_->Mounts("container"), before);
  ASSERT_TRUE(snapshotter_->Cleanup().ok());
  EXPECT_GE(provider_->collections(), 1);
}

TEST_F(SnapshotterTest, ALayerThatCannotBeRestoredFailsOnlyWhatNeedsItAndHealsLater) {
  provider_->Add(Layer(1));
  ASSERT_EQ(PrepareLayer(1, "").code(), kAlreadyExists);
  ASSERT_TRUE(snapshotter_->Prepare("container", "chain-1", {}, "default").ok());
  ASSERT_TRUE(snapshotter_->Prepare("plain", "", {}, "default").ok());
  Stop();
  Start();
  provider_->restore_status = absl::FailedPreconditionError("/dev/fuse is missing");
  ASSERT_TRUE(snapshotter_->Restore().ok());
  ASSERT_TRUE(snapshotter_->Cleanup().ok());
  EXPECT_EQ(provider_->collections(), 0) << "what is on disk of the broken layer was given up";
  EXPECT_TRUE(snapshotter_->Mounts("plain").ok());
  const Status status = snapshotter_->Mounts("container").status();
  EXPECT_EQ(status.code(), kUnavailable);
  EXPECT_EQ(Message(status),
            "layer " + Layer(1).ToString() + " of snapshot chain-1 cannot be mounted: /dev/fuse is missing");
  EXPECT_EQ(snapshotter_->Prepare("another", "chain-1", {}, "default").status().code(), kUnavailable);
  EXPECT_EQ(snapshotter_->Stat("another").status().code(), kNotFound) << "nothing half-made stays";
  EXPECT_EQ(snapshotter_->Usage("chain-1")->bytes, 0u);

  provider_->restore_status = OkStatus();
  EXPECT_TRUE(snapshotter_->Mounts("container").ok());
  ASSERT_TRUE(snapshotter_->Cleanup().ok());
  EXPECT_GE(provider_->collections(), 1);
}

TEST_F(SnapshotterTest, ALayerThatHasToBeFetchedAgainIsFetchedAfterTheStart) {
  provider_->Add(Layer(1));
  ASSERT_EQ(PrepareLayer(1, "").code(), kAlreadyExists);
  ASSERT_TRUE(snapshotter_->Prepare("container", "chain-1", {}, "default").ok());
  Stop();
  Start();
  provider_->from_disk_status = absl::UnavailableError("the machine went down before it was on the disk");
  ASSERT_TRUE(snapshotter_->Restore().ok());
  provider_->WaitForRestores(2);
  EXPECT_TRUE(snapshotter_->Mounts("container").ok());
}

TEST_F(SnapshotterTest, APullOfABrokenLayerProvidesItAnew) {
  provider_->Add(Layer(1));
  ASSERT_EQ(PrepareLayer(1, "").code(), kAlreadyExists);
  Stop();
  Start();
  provider_->Add(Layer(1));
  provider_->restore_status = absl::DataLossError("the table is damaged");
  ASSERT_TRUE(snapshotter_->Restore().ok());
  EXPECT_EQ(PrepareLayer(1, "").code(), kAlreadyExists);
  EXPECT_EQ(provider_->provides(), 1);
  EXPECT_TRUE(snapshotter_->Prepare("container", "chain-1", {}, "default").ok());
}

// Field report C8: many layers, and paths that are not short.
TEST_F(SnapshotterTest, C8_AStackOf127LayersFitsOnePageOfMountOptions) {
  std::string parent;
  for (int i = 1; i <= 127; ++i) {
    provider_->Add(Layer(i));
    if (i % 3 == 0) {
      ASSERT_TRUE(snapshotter_->Prepare("key-" + std::to_string(i), parent, {}, "default").ok());
      ASSERT_TRUE(snapshotter_->Commit("chain-" + std::to_string(i), "key-" + std::to_string(i), {}).ok());
    } else {
      ASSERT_EQ(PrepareLayer(i, parent).code(), kAlreadyExists);
    }
    parent = "chain-" + std::to_string(i);
  }
  Result<std::vector<Mount>> mounts = snapshotter_->Prepare("container", parent, {}, "default");
  ASSERT_TRUE(mounts.ok()) << mounts.status();
  const std::string lowers = mounts->front().options.back();
  EXPECT_EQ(std::count(lowers.begin(), lowers.end(), ':'), 126);
  EXPECT_THAT(lowers, HasSubstr(folder_ / "run/l/127"));
  EXPECT_EQ(std::filesystem::read_symlink(folder_ / "run/l/127"), provider_->Folder(Layer(127)));
  EXPECT_EQ(std::filesystem::read_symlink(folder_ / "run/l/126"), Snapshots("126/fs"));
}

// Field report C18.
TEST_F(SnapshotterTest, C18_ManyThreadsOnOneChainNeverSeeAnUnreadySnapshot) {
  provider_->Add(Layer(1));
  provider_->Add(Layer(2));
  std::atomic<int> wrong{0};
  auto work = [&](int thread) {
    for (int i = 0; i < 20; ++i) {
      const std::string key = std::to_string(thread) + "-" + std::to_string(i);
      wrong += snapshotter_->Prepare(key + "-1", "", CriLabels(1), "n").status().code() != kAlreadyExists;
      wrong += snapshotter_->Prepare(key + "-2", "chain-1", CriLabels(2), "n").status().code() != kAlreadyExists;
      wrong += !snapshotter_->Prepare(key, "chain-2", {}, "n").ok();
      wrong += !snapshotter_->Mounts(key).ok();
      wrong += !snapshotter_->Remove(key).ok();
    }
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) threads.emplace_back(work, t);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_THAT(*snapshotter_->Walk({}), SizeIs(2));
  ASSERT_TRUE(snapshotter_->Cleanup().ok());
  EXPECT_EQ(FolderCount(), 0u);
}

TEST_F(SnapshotterTest, LabelsAreUpdatedThroughTheMask) {
  provider_->Add(Layer(1));
  ASSERT_EQ(PrepareLayer(1, "").code(), kAlreadyExists);
  Result<Snapshot> updated = snapshotter_->Update("chain-1", {{"x", "1"}}, {"labels"});
  ASSERT_TRUE(updated.ok());
  EXPECT_THAT(updated->labels, ElementsAre(Pair("x", "1")));
  EXPECT_TRUE(snapshotter_->Stat("chain-1")->remote()) << "labels do not decide what a snapshot is";
  EXPECT_THAT(updated->labels, Not(Contains(Pair("containerd.io/snapshot/remote", "remote snapshot"))));
}

}  // namespace
}  // namespace soci
