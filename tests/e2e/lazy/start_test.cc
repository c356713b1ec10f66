// Containers that start before their image is there, under the real containerd.
#include <gmock/gmock.h>

#include <filesystem>

#include "tests/e2e/support/lazy_start.h"

namespace soci::test {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr size_t kBigFile = 8 << 20;

TestImage BusyboxAnd(ImageLayer layer) {
  return TestImage().Add(GzipLayer(BusyboxTar().Finish())).Add(std::move(layer));
}

TestImage ThreeLayerImage() {
  return BusyboxAnd(GzipLayer(TarBuilder()
                                  .Directory("srv")
                                  .File("srv/first", "first\n")
                                  .File("srv/big", NoiseBytes(kBigFile, 1))
                                  .File("srv/last", "last\n")
                                  .Finish()))
      .Add(PlainLayer(TarBuilder().Directory("srv").Whiteout("srv/first").File("srv/plain", "plain\n").Finish()));
}

class Start : public LazyStart {};

TEST_F(Start, AnIndexedImageRunsAndExecRunsInIt) {
  const TestImage image = ThreeLayerImage();
  const std::string reference = PushIndexed(image, "app");
  PullLazily(reference);
  for (const ImageLayer& layer : image.layers()) {
    EXPECT_THAT(StateOf(layer), AnyOf("lazy", "filling", "complete", "sealed")) << daemon_.Log();
  }
  ASSERT_EQ(Failure(containerd_.RunDetached("soci", reference, "c1", {"sleep", "1000"})), "");
  EXPECT_EQ(containerd_.Exec("c1", {"cat", "/srv/last"}).out, "last\n");
  EXPECT_EQ(containerd_.Exec("c1", {"cat", "/srv/plain"}).out, "plain\n");
  EXPECT_FALSE(containerd_.Exec("c1", {"cat", "/srv/first"}).ok());
  EXPECT_EQ(containerd_.Exec("c1", {"sh", "-c", "echo written > /srv/new && cat /srv/new"}).out, "written\n");
  containerd_.RemoveContainer("c1");
}

TEST_F(Start, AnIndexedImageBecomesLocalAndThenNeedsNoRegistry) {
  const std::string reference = PushIndexed(ThreeLayerImage(), "app");
  PullLazily(reference);
  ASSERT_TRUE(daemon_.WaitUntilSealed()) << daemon_.Log();
  registry_.Stop();
  EXPECT_EQ(Output(reference, {"cat", "/srv/last"}), "last\n");
  EXPECT_THAT(Output(reference, {"wc", "-c", "/srv/big"}), StartsWith(std::to_string(kBigFile)));
}

// B6: as after a copy that left the index behind.
TEST_F(Start, B6_AnImageWithoutAnIndexIsPulledAsAWholeAndSaysOnceWhyItIsNotLazy) {
  const TestImage image = ThreeLayerImage();
  const std::string reference = Push(image, "plain");
  PullLazily(reference);
  EXPECT_EQ(Output(reference, {"cat", "/srv/last"}), "last\n");
  for (const ImageLayer& layer : image.layers()) EXPECT_EQ(StateOf(layer), "sealed");
  const std::string log = daemon_.Log(), line = "image " + reference + " is not lazy: no SOCI index for ";
  EXPECT_THAT(log, HasSubstr(line));
  EXPECT_EQ(log.find(line), log.rfind(line));
}

// B6: a copy of everything that is in the repository, into another registry.
TEST_F(Start, B6_ACopyWithItsIndexIsLazy) {
  const TestImage image = ThreeLayerImage();
  PushIndexed(image, "app");
  DockerRegistry other(sandbox_, {.folder = "other"});
  registry_.Stop();
  other.Stop();
  std::filesystem::copy(sandbox_ / "registry/storage", sandbox_ / "other/storage",
                        std::filesystem::copy_options::recursive);
  other.Start();
  daemon_.UsePlainHttp(other.host());
  PullLazily(other.host() + "/app:v1");
  EXPECT_THAT(StateOf(image.layers()[1]), AnyOf("lazy", "filling", "complete", "sealed")) << daemon_.Log();
}

class Bound : public LazyStart {
 protected:
  Bound() : LazyStart({"--index.referrers=false"}) {}
};

// B7
TEST_F(Bound, B7_WhereDiscoveryIsOffOneWarningNamesTheSetting) {
  const std::string reference = PushIndexed(ThreeLayerImage(), "app");
  PullLazily(reference);
  EXPECT_EQ(Output(reference, {"cat", "/srv/last"}), "last\n");
  const std::string log = daemon_.Log(), line = " warning image " + reference + " is not lazy: ";
  EXPECT_THAT(log, HasSubstr(line));
  EXPECT_EQ(log.find(line), log.rfind(line));
  EXPECT_THAT(log, HasSubstr("index.referrers is off"));
}

TEST_F(Start, ALayerWithoutATableIsUnpackedAndTheOthersAreLazy) {
  const TestImage image = ThreeLayerImage();
  // Only the layer with the big file is large enough.
  const std::string reference = PushIndexed(image, "app", {"--min-layer-size=4MiB"});
  PullLazily(reference);
  EXPECT_EQ(StateOf(image.layers()[0]), "sealed");
  EXPECT_THAT(StateOf(image.layers()[1]), AnyOf("lazy", "filling", "complete", "sealed"));
  EXPECT_EQ(StateOf(image.layers()[2]), "sealed");
  EXPECT_EQ(Output(reference, {"cat", "/srv/last", "/srv/plain"}), "last\nplain\n");
}

// C10: a puller that sends no labels.
TEST_F(Start, APullByCtrWorksAndTheLogTellsWhyItIsNotLazy) {
  const std::string reference = PushIndexed(ThreeLayerImage(), "app");
  ASSERT_EQ(Failure(containerd_.Pull("soci", reference)), "");
  EXPECT_EQ(Output(reference, {"cat", "/srv/last"}), "last\n");
  // ctr of 1.6 does not even say which layer it is about, so nothing tells its snapshots from a container's.
  if (containerd_.major_version() >= 2) {
    EXPECT_THAT(daemon_.Log(), HasSubstr("cri.image-ref"));
  }
}

TEST_F(Start, AFolderWithoutAMemberOfItsOwnKeepsTheModeThatALayerBelowGaveIt) {
  const TestImage image = BusyboxAnd(GzipLayer(TarBuilder().Directory("shared", {.mode = 01777}).Finish()))
                              .Add(GzipLayer(TarBuilder().File("shared/file", "x").Finish()));
  const std::string reference = PushIndexed(image, "app");
  PullLazily(reference);
  EXPECT_EQ(Output(reference, {"stat", "-c", "%a", "/shared"}), "1777\n");
  EXPECT_EQ(Output(reference, {"cat", "/shared/file"}), "x");
  EXPECT_EQ(StateOf(image.layers()[2]), "deferred");
}

class Counted : public LazyStart {
 protected:
  Counted() : LazyStart(OnDemandOnly()) {}
};

TEST_F(Counted, ReadingOneSmallFileFetchesOneSpanOfOneLayer) {
  const TestImage image = ThreeLayerImage();
  const std::string reference = PushIndexed(image, "app");
  PullLazily(reference);
  ASSERT_EQ(Failure(containerd_.RunDetached("soci", reference, "c1", {"sleep", "1000"})), "");
  registry_.ForgetRequests();
  EXPECT_EQ(containerd_.Exec("c1", {"cat", "/srv/last"}).out, "last\n");
  const std::vector<LoggedRequest> gets = registry_.BlobGets(image.layers()[1].digest.ToString());
  ASSERT_EQ(gets.size(), 1u);
  EXPECT_EQ(gets[0].status, 206);
  // A span is 64 KiB at least before it is compressed, and ends at the first block border after that.
  EXPECT_LT(gets[0].bytes, 200'000u);
  containerd_.RemoveContainer("c1");
}

// B17, through the kernel.
TEST_F(Counted, B17_SixtyFourReadersOfOneSpanCauseOneRequest) {
  const TestImage image = ThreeLayerImage();
  const std::string reference = PushIndexed(image, "app");
  PullLazily(reference);
  ASSERT_EQ(Failure(containerd_.RunDetached("soci", reference, "c1", {"sleep", "1000"})), "");
  registry_.ForgetRequests();
  const CommandResult result = containerd_.Exec(
      "c1", {"sh", "-c", "for i in 1 2 3 4 5 6 7 8; do for j in 1 2 3 4 5 6 7 8; do cat /srv/last & done; done; wait"});
  EXPECT_EQ(result.out.size(), 64 * std::string("last\n").size());
  EXPECT_EQ(registry_.BlobGets(image.layers()[1].digest.ToString()).size(), 1u);
  containerd_.RemoveContainer("c1");
}

TEST_F(Counted, ReadingItAgainFetchesNothing) {
  const TestImage image = ThreeLayerImage();
  const std::string reference = PushIndexed(image, "app");
  PullLazily(reference);
  EXPECT_EQ(Output(reference, {"cat", "/srv/last"}), "last\n");
  registry_.ForgetRequests();
  EXPECT_EQ(Output(reference, {"cat", "/srv/last"}), "last\n");
  EXPECT_EQ(registry_.BlobBytes(), 0u);
}

}  // namespace
}  // namespace soci::test
