// Images without an index, pulled as a whole by ourselves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/e2e/support/lazy_start.h"
#include "tests/support/tar_builder.h"

namespace soci::test {
namespace {

class OwnUnpack : public LazyStart {
 protected:
  OwnUnpack() : LazyStart({"--pull.unpack=true"}) {}
};

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

}  // namespace
}  // namespace soci::test
