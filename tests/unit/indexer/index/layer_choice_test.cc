#include "indexer/index/layer_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "indexer/oci/annotations.h"

namespace soci {
namespace {

using testing::HasSubstr;

LayerChoice Choose(std::string_view type, int64_t size = 100, uint64_t min = 100) {
  return ChooseLayer({.media_type = std::string(type), .digest = {}, .size = size}, min);
}

TEST(ChooseLayer, TheTypesOfGzipAndPlainLayersGetAZtoc) {
  for (const char* type :
       {"application/vnd.oci.image.layer.v1.tar+gzip", "application/vnd.oci.image.layer.nondistributable.v1.tar+gzip",
        "application/vnd.docker.image.rootfs.diff.tar.gzip",
        "application/vnd.docker.image.rootfs.foreign.diff.tar.gzip"}) {
    EXPECT_EQ(Choose(type).outcome, LayerOutcome::kIndexed) << type;
    EXPECT_EQ(Choose(type).compression, Compression::kGzip) << type;
  }
  for (const char* type : {"application/vnd.oci.image.layer.v1.tar", "application/vnd.docker.image.rootfs.diff.tar",
                           "application/vnd.docker.image.rootfs.foreign.diff.tar"}) {
    EXPECT_EQ(Choose(type).outcome, LayerOutcome::kIndexed) << type;
    EXPECT_EQ(Choose(type).compression, Compression::kUncompressed) << type;
  }
}

TEST(ChooseLayer, OtherTypesAreSkippedWithAReason) {
  const std::pair<const char*, const char*> cases[] = {
      {"application/vnd.oci.image.layer.v1.tar+zstd", "zstd"},
      {"application/vnd.docker.image.rootfs.diff.tar.zstd", "zstd"},
      {"application/vnd.oci.image.layer.v1.tar+gzip+encrypted", "encrypted"},
      {"application/vnd.oci.image.layer.nondistributable.v1.tar", "have no zTOC"},
      {"application/vnd.oci.image.layer.v1.tar+xz", "have no zTOC"},
      {"application/vnd.in-toto+json", "is not a layer"},
      {"", "is not a layer"},
  };
  for (const auto& [type, reason] : cases) {
    EXPECT_EQ(Choose(type).outcome, LayerOutcome::kUnsupported) << type;
    EXPECT_THAT(Choose(type).reason, HasSubstr(reason));
  }
  EXPECT_EQ(Choose(oci::kMediaTypePrefetch).outcome, LayerOutcome::kIgnored);
}

TEST(ChooseLayer, OnlyLayersBelowTheMinimumAreSmall) {
  EXPECT_EQ(Choose(oci::kMediaTypeLayerGzip, 100, 100).outcome, LayerOutcome::kIndexed);
  EXPECT_EQ(Choose(oci::kMediaTypeLayerGzip, 99, 100).outcome, LayerOutcome::kSmall);
  EXPECT_EQ(Choose(oci::kMediaTypeLayerZstd, 99, 100).outcome, LayerOutcome::kSmall);
  EXPECT_EQ(Choose("a/b", 99, 100).outcome, LayerOutcome::kUnsupported);
}

}  // namespace
}  // namespace soci
