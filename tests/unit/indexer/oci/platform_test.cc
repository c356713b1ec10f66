#include "indexer/oci/platform.h"

#include <gtest/gtest.h>

#include "indexer/oci/annotations.h"

namespace soci::oci {
namespace {

Platform Of(const std::string& text) { return ParsePlatform(text).value(); }

Descriptor Entry(const std::string& os, const std::string& architecture, const std::string& variant = "") {
  Descriptor entry{
      .media_type = std::string(kMediaTypeManifest), .digest = Digest::Of(os + architecture + variant), .size = 1};
  entry.platform = Platform{.architecture = architecture, .os = os, .variant = variant};
  return entry;
}

TEST(Platform, ManySpellingsAreOneMachine) {
  EXPECT_EQ(Of("linux/x86_64").ToString(), "linux/amd64");
  EXPECT_EQ(Of("linux/amd64/v1").ToString(), "linux/amd64");
  EXPECT_EQ(Of("linux/aarch64").ToString(), "linux/arm64");
  EXPECT_EQ(Of("Linux/ARM64/v8").ToString(), "linux/arm64");
  EXPECT_EQ(Of("linux/arm64/9").ToString(), "linux/arm64/v9");
  EXPECT_EQ(Of("linux/arm").ToString(), "linux/arm/v7");
  EXPECT_EQ(Of("linux/arm/6").ToString(), "linux/arm/v6");
  EXPECT_EQ(Of("linux/armel").ToString(), "linux/arm/v6");
  EXPECT_EQ(Of("arm64").ToString(), "linux/arm64");
  EXPECT_EQ(Of("windows").os, "windows");
}

TEST(Platform, RefusesWhatIsNone) {
  for (const char* text : {"", "/", "linux/", "linux/amd64/v1/x", "linux amd64", "a/b\n"}) {
    EXPECT_FALSE(ParsePlatform(text).ok()) << text;
  }
}

TEST(Platform, VariantsMustBeEqualAfterNormalising) {
  EXPECT_TRUE(Matches(Of("linux/arm64"), Platform{.architecture = "arm64", .os = "linux", .variant = "v8"}));
  EXPECT_FALSE(Matches(Of("linux/arm/v6"), Of("linux/arm/v7")));
  EXPECT_FALSE(Matches(Of("linux/amd64"), Of("linux/amd64/v3")));
}

TEST(FindPlatform, PassesOverAttestationsArtifactsAndEntriesWithoutAPlatform) {
  ImageIndex index;
  Descriptor soci = Entry("linux", "amd64");
  soci.artifact_type = kMediaTypeSociIndexV2;
  Descriptor bare = Entry("linux", "amd64");
  bare.platform.reset();
  index.manifests = {Entry("unknown", "unknown"), bare, soci, Entry("linux", "arm64", "v8"), Entry("linux", "amd64")};
  EXPECT_EQ(FindPlatform(index, Of("linux/amd64")), &index.manifests[4]);
  EXPECT_EQ(FindPlatform(index, Of("linux/arm64")), &index.manifests[3]);
  EXPECT_EQ(FindPlatform(index, Of("linux/s390x")), nullptr);
}

TEST(Platforms, ListsEachPlatformOnceInOrder) {
  ImageIndex index;
  index.manifests = {Entry("linux", "arm64", "v8"), Entry("unknown", "unknown"), Entry("linux", "amd64"),
                     Entry("linux", "arm64")};
  std::vector<Platform> platforms = Platforms(index);
  ASSERT_EQ(platforms.size(), 2u);
  EXPECT_EQ(platforms[0].ToString(), "linux/arm64/v8");
  EXPECT_EQ(platforms[1].ToString(), "linux/amd64");
}

}  // namespace
}  // namespace soci::oci
