// What goes wrong outside: registries that go away and come back, daemons that are restarted, images that are removed.
#include <gmock/gmock.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <future>
#include <regex>

#include "tests/e2e/support/lazy_start.h"
#include "tests/support/temporary_directory.h"

namespace soci::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr size_t kBigFile = 16 << 20;

TestImage BigImage(uint64_t seed = 1) {
  return TestImage()
      .Add(GzipLayer(BusyboxTar().Finish()))
      .Add(GzipLayer(TarBuilder()
                         .Directory("srv")
                         .File("srv/big", NoiseBytes(kBigFile, seed))
                         .File("srv/last", "last\n")
                         .Finish()));
}

std::string BigFileSum(uint64_t seed = 1) { return oci::Digest::Of(NoiseBytes(kBigFile, seed)).Hex(); }

class Outage : public LazyStart {
 protected:
  Outage() : LazyStart(OnDemandOnly()) {}
};

TEST_F(Outage, APullWaitsForASnapshotterThatIsBeingStarted) {
  const std::string reference = PushIndexed(BigImage(), "app");
  daemon_.Stop();
  // Now containerd has seen that nobody is there.
  EXPECT_FALSE(containerd_.Ctr({"snapshots", "--snapshotter", "soci", "prepare", "probe"}).ok());
  auto pull = std::async(std::launch::async, [&] { return daemon_.Pull(containerd_, reference); });
  EXPECT_TRUE(WaitUntil([this] { return !registry_.LoggedRequests().empty(); }));
  daemon_.Start();
  EXPECT_EQ(Failure(pull.get()), "");
  EXPECT_EQ(Output(reference, {"cat", "/srv/last"}), "last\n");
}

TEST_F(Outage, F10_ARegistryThatStopsInTheMiddleOfAReadAndComesBackOnlyDelaysIt) {
  const std::string reference = PushIndexed(BigImage(), "app");
  PullLazily(reference);
  ASSERT_EQ(Failure(containerd_.RunDetached("soci", reference, "c1", {"sleep", "1000"})), "");
  link_->GoDownAfter(kBigFile / 2);
  const auto reader = containerd_.StartExec("c1", {"sha256sum", "/srv/big"}, sandbox_ / "output");
  ASSERT_TRUE(WaitUntil([&] { return link_->IsDown(); })) << daemon_.Log();
  link_->SetDown(false);
  EXPECT_EQ(reader->Wait(std::chrono::seconds(60)), 0);
  std::ifstream output(sandbox_ / "output");
  std::string sum;
  output >> sum;
  EXPECT_EQ(sum, BigFileSum());
  containerd_.RemoveContainer("c1");
}

class OutageWithALog : public LazyStart {
 protected:
  OutageWithALog()
      : LazyStart([] {
          std::vector<std::string> flags = OnDemandOnly();
          flags.push_back("--log.level=debug");
          return flags;
        }()) {}

  // Every wait before another try that the daemon logged, in ms: the fetcher's ("next try"), or the client's
  // ("attempt").
  std::vector<int> Waits(const std::string& whose) {
    const std::regex wait("; " + whose + "( [0-9]+)? in ([0-9]+) ms");
    const std::string log = daemon_.Log();
    std::vector<int> waits;
    for (std::sregex_iterator match(log.begin(), log.end(), wait); match != std::sregex_iterator(); ++match) {
      waits.push_back(std::stoi((*match)[2]));
    }
    return waits;
  }
};

TEST_F(OutageWithALog, F10_EachTryOfAReadThatWaitsIsAtMostTwoSecondsAfterTheOneBefore) {
  const std::string reference = PushIndexed(BigImage(), "app");
  PullLazily(reference);
  ASSERT_EQ(Failure(containerd_.RunDetached("soci", reference, "c1", {"sleep", "1000"})), "");
  link_->GoDownAfter(kBigFile / 4);
  const auto reader = containerd_.StartExec("c1", {"sha256sum", "/srv/big"}, sandbox_ / "output");
  ASSERT_TRUE(WaitUntil([&] { return link_->IsDown(); })) << daemon_.Log();
  // Several spans are waited for, each with tries of its own. By doubling alone 3.2 s would come after 1.6.
  const auto longest = [&] {
    const std::vector<int> waits = Waits("next try");
    return std::count(waits.begin(), waits.end(), 2000);
  };
  ASSERT_TRUE(WaitUntil([&] { return longest() >= 2; })) << daemon_.Log();
  link_->SetDown(false);
  EXPECT_EQ(reader->Wait(std::chrono::seconds(60)), 0);
  std::ifstream output(sandbox_ / "output");
  std::string sum;
  output >> sum;
  EXPECT_EQ(sum, BigFileSum());
  EXPECT_THAT(Waits("next try"), ::testing::Each(::testing::Le(2000)));
  // Below, nothing waits but for a moment, after something has come.
  EXPECT_THAT(Waits("attempt"), ::testing::Each(::testing::Le(200))) << daemon_.Log();
  containerd_.RemoveContainer("c1");
}

TEST_F(Outage, F10_WhoReadsWhileTheRegistryIsGoneCanBeKilled) {
  const std::string reference = PushIndexed(BigImage(), "app");
  PullLazily(reference);
  ASSERT_EQ(Failure(containerd_.RunDetached("soci", reference, "c1", {"sleep", "1000"})), "");
  EXPECT_EQ(containerd_.Exec("c1", {"cat", "/srv/last"}).out, "last\n");  // what cat needs is here then
  const auto reader = FreezeUnder("c1", {"sha256sum", "/srv/big"});
  containerd_.RemoveContainer("c1");
  EXPECT_NE(reader->Wait(std::chrono::seconds(60)), 0);
  // That is: it was not the read's end that let it go.
  EXPECT_EQ(daemon_.Log().find("no answer within"), std::string::npos) << daemon_.Log();
  registry_.Thaw();
}

class OutageOfASecond : public LazyStart {
 protected:
  OutageOfASecond()
      : LazyStart([] {
          std::vector<std::string> flags = OnDemandOnly();
          flags.push_back("--registry.read_retry_budget=1s");
          return flags;
        }()) {}
};

TEST_F(OutageOfASecond, F10_ARegistryThatIsGoneForGoodIsAnIoErrorAndOneThatComesBackIsNot) {
  const std::string reference = PushIndexed(BigImage(), "app");
  PullLazily(reference);
  ASSERT_EQ(Failure(containerd_.RunDetached("soci", reference, "c1", {"sleep", "1000"})), "");
  EXPECT_EQ(containerd_.Exec("c1", {"cat", "/srv/last"}).out, "last\n");
  link_->SetDown(true);
  const CommandResult read = containerd_.Exec("c1", {"cat", "/srv/big"});
  EXPECT_FALSE(read.ok());
  EXPECT_THAT(read.err, ::testing::HasSubstr("Input/output error"));
  link_->SetDown(false);
  EXPECT_THAT(containerd_.Exec("c1", {"sha256sum", "/srv/big"}).out, ::testing::StartsWith(BigFileSum()));
  containerd_.RemoveContainer("c1");
}

TEST_F(Outage, WhatWasReadBeforeIsReadableWithoutARegistry) {
  const std::string reference = PushIndexed(BigImage(), "app");
  PullLazily(reference);
  ASSERT_EQ(Failure(containerd_.RunDetached("soci", reference, "c1", {"sleep", "1000"})), "");
  EXPECT_EQ(containerd_.Exec("c1", {"cat", "/srv/last"}).out, "last\n");
  registry_.Stop();
  EXPECT_EQ(containerd_.Exec("c1", {"cat", "/srv/last"}).out, "last\n");
  containerd_.RemoveContainer("c1");
}

// Its config promises another DiffID, which only sealing finds out.
TEST_F(LazyStart, AContainerOverALayerThatWasFoundFalseIsRefusedWithTheReason) {
  TestImage image = BigImage();
  ImageLayer false_layer = GzipLayer(TarBuilder().File("extra", "extra").Finish());
  false_layer.diff_id = oci::DiffId(oci::Digest::Of("another"));
  image.Add(false_layer);
  const std::string reference = PushIndexed(image, "app");
  PullLazily(reference);
  ASSERT_TRUE(WaitUntil([&] { return StateOf(false_layer) == "condemned"; })) << daemon_.Log();
  const CommandResult run = containerd_.Run("soci", reference, "c1", {"cat", "/srv/last"});
  EXPECT_FALSE(run.ok());
  EXPECT_THAT(run.err, ::testing::HasSubstr("found to be false"));
  // Told once.
  const std::string log = daemon_.Log();
  size_t told = 0;
  for (size_t at = log.find(" error "); at != std::string::npos; at = log.find(" error ", at + 1)) ++told;
  EXPECT_EQ(told, 1u) << log;
}

class Restart : public LazyStart {
 protected:
  Restart() : LazyStart(OnDemandOnly()) {}
  void StartDaemonAgain() {
    daemon_.Start();
    WaitForSnapshotter();
  }
};

TEST_F(Restart, ContainersStartAfterACleanRestartOfTheDaemon) {
  const std::string reference = PushIndexed(BigImage(), "app");
  PullLazily(reference);
  EXPECT_EQ(daemon_.Stop(), 0);
  StartDaemonAgain();
  EXPECT_THAT(Output(reference, {"sha256sum", "/srv/big"}), StartsWith(BigFileSum()));
}

TEST_F(Restart, ContainersStartAfterTheDaemonWasKilledWithALazyContainerRunning) {
  const std::string reference = PushIndexed(BigImage(), "app");
  PullLazily(reference);
  ASSERT_EQ(Failure(containerd_.RunDetached("soci", reference, "c1", {"sleep", "1000"})), "");
  EXPECT_EQ(containerd_.Exec("c1", {"cat", "/srv/last"}).out, "last\n");
  daemon_.Kill();
  StartDaemonAgain();
  containerd_.RemoveContainer("c1");
  EXPECT_THAT(Output(reference, {"sha256sum", "/srv/big"}), StartsWith(BigFileSum()));
}

TEST_F(Restart, TheDaemonMountsEverythingAgainWithoutARegistry) {
  const std::string reference = PushIndexed(BigImage(), "app");
  PullLazily(reference);
  EXPECT_EQ(Output(reference, {"cat", "/srv/last"}), "last\n");
  registry_.Stop();
  daemon_.Kill();
  StartDaemonAgain();
  EXPECT_EQ(Output(reference, {"cat", "/srv/last"}), "last\n");
}

TEST_F(Restart, ContainerdRestartsBesideTheRunningDaemon) {
  const std::string reference = PushIndexed(BigImage(), "app");
  PullLazily(reference);
  containerd_.Stop();
  containerd_.Start();
  EXPECT_EQ(Output(reference, {"cat", "/srv/last"}), "last\n");
}

TEST(RestartOrder, TheDaemonMayStartBeforeContainerd) {
  Sandbox sandbox;
  DockerRegistry registry(sandbox);
  Daemon daemon(sandbox, {"--containerd.address=" + (sandbox / "containerd/c.sock")});
  daemon.UsePlainHttp(registry.host());
  const std::string reference = BigImage().Push(registry, "app", "v1");
  ASSERT_EQ(Failure(CreateIndex(reference, {"--min-layer-size=0"})), "");
  Containerd containerd(sandbox, daemon.socket());
  ASSERT_EQ(Failure(daemon.Pull(containerd, reference)), "") << daemon.Log();
  EXPECT_EQ(containerd.Run("soci", reference, "c1", {"cat", "/srv/last"}).out, "last\n");
  containerd.RemoveAllImages();
}

class Removal : public LazyStart {
 protected:
  std::vector<std::string> LayerFolders() const {
    std::vector<std::string> folders;
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(daemon_.state() + "/layers/sha256", none)) {
      folders.push_back(entry.path().filename());
    }
    return folders;
  }
  std::vector<std::string> Snapshots() const {
    std::vector<std::string> folders;
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(daemon_.state() + "/snapshots", none)) {
      folders.push_back(entry.path().filename());
    }
    return folders;
  }
};

TEST_F(Removal, AnImageThatIsRemovedLeavesNothingInTheStateDirectory) {
  const std::string reference = PushIndexed(BigImage(), "app");
  PullLazily(reference);
  EXPECT_EQ(Output(reference, {"cat", "/srv/last"}), "last\n");
  ASSERT_TRUE(daemon_.WaitUntilSealed()) << daemon_.Log();
  EXPECT_EQ(LayerFolders().size(), 2u);
  ASSERT_EQ(Failure(containerd_.RemoveImage(reference)), "");
  EXPECT_TRUE(WaitUntil([&] { return LayerFolders().empty() && Snapshots().empty(); })) << daemon_.Log();
  EXPECT_THAT(LayerFolders(), IsEmpty());
  EXPECT_THAT(Snapshots(), IsEmpty());
  EXPECT_THAT(daemon_.Layers(), IsEmpty());
  EXPECT_THAT(MountPointsBelow(sandbox_.root()), IsEmpty());
}

// G1
TEST_F(Removal, AnImageThatIsRemovedWhileItIsFilledStopsBeingFetched) {
  const std::string reference = PushIndexed(BigImage(), "app", {"--min-layer-size=0"});
  // The fill stalls when less than half is here, so the removal comes in its middle, however fast the machine is.
  link_->GoDownAfter(kBigFile / 2);
  PullLazily(reference);
  ASSERT_TRUE(WaitUntil([&] { return link_->IsDown(); })) << daemon_.Log();
  ASSERT_EQ(Failure(containerd_.RemoveImage(reference)), "");
  ASSERT_TRUE(WaitUntil([&] { return LayerFolders().empty(); })) << daemon_.Log();
  link_->SetDown(false);
  registry_.ForgetRequests();
  // Whatever were still wanted would be asked for again by now: a pull of another image goes the whole way.
  const std::string other = PushIndexed(BigImage(2), "other", {"--min-layer-size=0"});
  PullLazily(other);
  ASSERT_TRUE(daemon_.WaitUntilSealed()) << daemon_.Log();
  EXPECT_THAT(registry_.BlobGets(BigImage().layers()[1].digest.ToString()), IsEmpty());
}

TEST_F(Removal, ALayerThatTwoImagesShareStaysUntilTheLastIsGone) {
  const std::string one = PushIndexed(BigImage(1), "one"), two = PushIndexed(BigImage(2), "two");
  PullLazily(one);
  PullLazily(two);
  EXPECT_EQ(LayerFolders().size(), 3u);
  ASSERT_EQ(Failure(containerd_.RemoveImage(one)), "");
  EXPECT_TRUE(WaitUntil([&] { return LayerFolders().size() == 2; })) << daemon_.Log();
  EXPECT_EQ(Output(two, {"cat", "/srv/last"}), "last\n");
  ASSERT_EQ(Failure(containerd_.RemoveImage(two)), "");
  EXPECT_TRUE(WaitUntil([&] { return LayerFolders().empty(); })) << daemon_.Log();
}

}  // namespace
}  // namespace soci::test
