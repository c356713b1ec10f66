#include "indexer/index/index_builder.h"

#include <gtest/gtest.h>

#include "indexer/oci/annotations.h"

namespace soci {
namespace {

oci::Digest DigestOfLetter(char letter) { return oci::Digest::Parse("sha256:" + std::string(64, letter)).value(); }

// The example of the format's description; sizes and digests were computed with the reference tools.
IndexContents Example() {
  IndexContents contents;
  contents.span_size = 4194304;
  contents.build_tool = oci::kBuildTool;
  contents.ztocs.push_back(
      {.layer = {.media_type = std::string(oci::kMediaTypeLayerGzip), .digest = DigestOfLetter('a'), .size = 1},
       .artifact = {.digest = DigestOfLetter('b'), .size = 33504}});
  return contents;
}

const oci::Descriptor kSubject{.media_type = std::string(oci::kMediaTypeManifest),
                               .digest = DigestOfLetter('c'),
                               .size = 1234,
                               .annotations = {{"x", "left out"}}};

TEST(MakeSociIndex, GivesTheBytesOfTheReferenceTool) {
  EXPECT_EQ(oci::Digest::Of(MakeSociIndexV1(Example(), kSubject).ToJson()).Hex(),
            "bc2ac4228a24c1b089913b5ef7f3c8228d473ca0c2abd330b6ab3987a40d8dc8");
  EXPECT_EQ(oci::Digest::Of(MakeSociIndexV2(Example()).ToJson()).Hex(),
            "4e19f0ce4f7d488c82b90af0a02b9d7fc829e725cdd728383bac1c1903c97c5b");
}

TEST(MakeSociIndex, PrefetchArtifactsComeAfterAllZtocs) {
  IndexContents contents = Example();
  contents.ztocs.push_back(contents.ztocs[0]);
  contents.ztocs[1].disable_xattrs = true;
  contents.prefetch.push_back(
      {.layer = contents.ztocs[0].layer, .artifact = {.digest = DigestOfLetter('d'), .size = 9}});
  const oci::Manifest index = MakeSociIndexV1(contents, kSubject);
  ASSERT_EQ(index.layers.size(), 3u);
  EXPECT_EQ(index.layers[1].annotations.at("com.amazon.soci.disable-xattrs"), "true");
  EXPECT_EQ(index.layers[2].media_type, oci::kMediaTypePrefetch);
  EXPECT_EQ(index.layers[2].annotations.size(), 1u);
}

TEST(ReferrerDescriptor, CarriesTypeAndAnnotationsOfTheManifest) {
  const oci::Manifest index = MakeSociIndexV1(Example(), kSubject);
  const oci::Descriptor listed = ReferrerDescriptor(index, index.ToJson());
  EXPECT_EQ(listed.artifact_type, oci::kMediaTypeSociIndexV1);
  EXPECT_EQ(listed.annotations, index.annotations);
  EXPECT_EQ(listed.size, 874);
}

}  // namespace
}  // namespace soci
