// Images without an index, pulled as a whole by ourselves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/e2e/support/lazy_start.h"
#include "tests/support/tar_builder.h"

namespace soci::test {
namespace {

class OwnUnpack : public LazyStart {};

TEST_F(OwnUnpack, AnImageWithoutAnIndexRunsOnSealedLayersThatContainerdDidNotUnpack) {
  TestImage image = TestImage().Add(GzipLayer(BusyboxTar().Finish()));
  image
      .Add(GzipLayer(TarBuilder().Directory("srv").File("srv/a", "a\n").File("srv/b", NoiseBytes(900'000, 1)).Finish()))
      .Add(GzipLayer(TarBuilder().Directory("srv").Whiteout("srv/a").File("srv/c", "c\n").Finish()));
  const std::string reference = Push(image, "plain");
  PullLazily(reference);
  for (const ImageLayer& layer : image.layers()) EXPECT_EQ(StateOf(layer), "sealed") << daemon_.Log();
  registry_.Stop();
  EXPECT_EQ(Output(reference, {"cat", "/srv/c"}), "c\n");
  EXPECT_EQ(Output(reference, {"sh", "-c", "ls /srv | wc -l"}), "2\n");
}

TEST_F(OwnUnpack, ALayerWhoseFoldersOnlyTheOnesBelowDescribeIsLeftToContainerd) {
  TestImage image = TestImage().Add(GzipLayer(BusyboxTar().Finish()));
  image.Add(GzipLayer(TarBuilder().Directory("srv", {.mode = 0711}).File("srv/a", "a\n").Finish()))
      .Add(GzipLayer(TarBuilder().File("srv/b", "b\n").Finish()));
  const std::string reference = Push(image, "plain");
  PullLazily(reference);
  EXPECT_EQ(StateOf(image.layers().back()), "deferred");
  EXPECT_EQ(Output(reference, {"stat", "-c", "%a", "/srv"}), "711\n");
  EXPECT_EQ(Output(reference, {"cat", "/srv/b"}), "b\n");
}

// B11: the daemon knows from one setting that the registry speaks HTTP.
TEST_F(OwnUnpack, B11_IndexTableLayersAndFillAllGoOverPlainHttp) {
  const ImageLayer small = GzipLayer(BusyboxTar().Finish());
  const ImageLayer big = GzipLayer(TarBuilder().File("big", NoiseBytes(8 << 20, 1)).Finish(), 1);
  const std::string reference =
      PushIndexed(TestImage().Add(small).Add(big), "app", {"--min-layer-size=4MiB", "--span-size=1MiB"});
  PullLazily(reference);
  ASSERT_TRUE(daemon_.WaitUntilSealed()) << daemon_.Log();
  for (const ImageLayer& layer : {small, big}) {
    EXPECT_EQ(StateOf(layer), "sealed");
    EXPECT_FALSE(registry_.BlobGets(layer.digest.ToString()).empty());
  }
}

class UnpackOff : public LazyStart {
 protected:
  UnpackOff() : LazyStart({"--pull.unpack=false"}) {}
};

TEST_F(UnpackOff, WhatHasNoTableIsLeftToContainerd) {
  const TestImage image = TestImage()
                              .Add(GzipLayer(BusyboxTar().Finish()))
                              .Add(GzipLayer(TarBuilder().File("a", NoiseBytes(8 << 20, 1)).Finish(), 1));
  const std::string plain = Push(image, "plain"), indexed = PushIndexed(image, "app", {"--min-layer-size=4MiB"});
  PullLazily(plain);
  EXPECT_EQ(Output(plain, {"wc", "-c", "/a"}), "8388608 /a\n");
  for (const ImageLayer& layer : image.layers()) EXPECT_NE(StateOf(layer), "sealed");
  containerd_.RemoveAllImages();
  PullLazily(indexed);
  EXPECT_EQ(StateOf(image.layers()[0]), "deferred");
  EXPECT_NE(StateOf(image.layers()[1]), "deferred");
}

}  // namespace
}  // namespace soci::test
