#include "indexer/index/select_platforms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "indexer/content/oci_layout.h"
#include "indexer/index/layout_home.h"
#include "indexer/index/registry_home.h"
#include "indexer/oci/annotations.h"
#include "indexer/oci/platform.h"
#include "tests/fakes/fake_registry_client.h"
#include "tests/support/temporary_directory.h"

namespace soci {
namespace {

using testing::HasSubstr;

class SelectPlatformsTest : public testing::Test {
 protected:
  SelectPlatformsTest() { layout = OciLayout::OpenOrCreate(directory.path()).value(); }

  oci::Descriptor Put(std::string_view media_type, const std::string& bytes) {
    oci::Descriptor blob{.media_type = std::string(media_type),
                         .digest = oci::Digest::Of(bytes),
                         .size = static_cast<int64_t>(bytes.size())};
    EXPECT_TRUE(layout->Put(blob, bytes).ok());
    return blob;
  }
  // An image whose config, and entry if `with_platform`, say linux/<architecture>.
  oci::Descriptor PutImage(const std::string& architecture, bool with_platform = true,
                           std::string_view config_type = oci::kMediaTypeImageConfig, const std::string& salt = "") {
    oci::Manifest manifest{.media_type = std::string(oci::kMediaTypeManifest)};
    manifest.config = Put(config_type, R"({"architecture":")" + architecture +
                                           R"(","os":"linux","rootfs":{"type":"layers","diff_ids":[]}})");
    manifest.annotations = {{"salt", salt}};
    oci::Descriptor entry = Put(oci::kMediaTypeManifest, manifest.ToJson());
    if (with_platform) entry.platform = oci::Platform{.architecture = architecture, .os = "linux"};
    return entry;
  }
  oci::Descriptor PutIndex(std::vector<oci::Descriptor> manifests) {
    return Put(oci::kMediaTypeImageIndex,
               oci::ImageIndex{.media_type = std::string(oci::kMediaTypeImageIndex), .manifests = manifests}.ToJson());
  }
  void Name(oci::Descriptor entry, const std::string& tag) {
    entry.annotations[std::string(oci::kAnnotationRefName)] = tag;
    ASSERT_TRUE(layout->List(entry).ok());
  }

  Result<SelectedImages> Select(const std::string& tag, const std::vector<std::string>& wanted = {}) {
    std::vector<oci::Platform> platforms;
    for (const std::string& text : wanted) platforms.push_back(oci::ParsePlatform(text).value());
    auto home = MakeLayoutHome(OciLayout::Open(directory.path()).value(), {.tag = tag});
    return SelectPlatforms(*home, platforms, {});
  }
  std::string Names(const Result<SelectedImages>& selected) {
    if (!selected.ok()) return std::string(Message(selected.status()));
    std::string names;
    for (const PlatformImage& image : selected->images) names += image.platform.ToString() + " ";
    for (const AbsentImage& image : selected->absent) names += "absent:" + image.platform + " ";
    return names;
  }

  test::TemporaryDirectory directory;
  std::unique_ptr<OciLayout> layout;
};

TEST_F(SelectPlatformsTest, ASingleImageGetsItsPlatformFromItsConfig) {
  Name(PutImage("s390x", false), "1");
  EXPECT_EQ(Names(Select("1")), "linux/s390x ");
  EXPECT_EQ(Names(Select("1", {"linux/s390x"})), "linux/s390x ");
  EXPECT_TRUE(absl::IsNotFound(Select("1", {"linux/amd64"}).status()));
}

TEST_F(SelectPlatformsTest, AllPlatformsAreTakenUnlessSomeAreNamed) {
  Name(PutIndex({PutImage("amd64"), PutImage("arm64"), PutImage("arm")}), "1");
  EXPECT_EQ(Names(Select("1")), "linux/amd64 linux/arm64 linux/arm ");
  EXPECT_EQ(Names(Select("1", {"linux/arm/v7", "linux/amd64", "linux/x86_64"})), "linux/arm linux/amd64 ");
  EXPECT_THAT(Names(Select("1", {"linux/s390x"})), HasSubstr("platform linux/s390x is not in the image"));
}

// Field report A7: one image and its attestation, for another machine than this one.
TEST_F(SelectPlatformsTest, AttestationsAndEntriesWithoutAPlatformDoNotDisturb) {
  oci::Descriptor attestation = PutImage("unknown");
  attestation.platform = oci::Platform{.architecture = "unknown", .os = "unknown"};
  oci::Descriptor bare_attestation = PutImage("unknown", false, oci::kMediaTypeImageConfig, "bare");
  bare_attestation.annotations = {{std::string(oci::kAnnotationReferenceType), "attestation-manifest"}};
  oci::Descriptor artifact = PutImage("x", false, "application/vnd.example+json");
  Name(PutIndex({attestation, bare_attestation, artifact, PutImage("arm64", false)}), "1");
  EXPECT_EQ(Names(Select("1")), "linux/arm64 ");
  EXPECT_EQ(Names(Select("1", {"linux/arm64"})), "linux/arm64 ");
}

// Field report A8: one platform was never pulled.
TEST_F(SelectPlatformsTest, APlatformWhoseManifestIsMissingIsReportedAndTheOthersTaken) {
  oci::Descriptor gone{
      .media_type = std::string(oci::kMediaTypeManifest), .digest = oci::Digest::Of("gone"), .size = 4};
  gone.platform = oci::Platform{.architecture = "arm64", .os = "linux"};
  Name(PutIndex({PutImage("amd64"), gone}), "1");
  EXPECT_EQ(Names(Select("1")), "linux/amd64 absent:linux/arm64 ");
  EXPECT_EQ(Names(Select("1", {"linux/amd64"})), "linux/amd64 ");
  EXPECT_TRUE(absl::IsNotFound(Select("1", {"linux/arm64"}).status()));
}

TEST_F(SelectPlatformsTest, OfTwoEntriesWithOnePlatformTheFirstCounts) {
  const oci::Descriptor first = PutImage("amd64"), second = PutImage("amd64", true, oci::kMediaTypeImageConfig, "2");
  Name(PutIndex({first, second}), "1");
  for (const auto& wanted : {std::vector<std::string>{}, std::vector<std::string>{"linux/amd64"}}) {
    Result<SelectedImages> selected = Select("1", wanted);
    ASSERT_EQ(selected->images.size(), 1u);
    EXPECT_EQ(selected->images[0].descriptor.digest, first.digest);
  }
}

TEST_F(SelectPlatformsTest, ImageIndexesMayBeNestedButNotForEver) {
  oci::Descriptor nested = PutIndex({PutImage("amd64")});
  Name(PutIndex({nested}), "1");
  EXPECT_EQ(Names(Select("1")), "linux/amd64 ");
  for (int i = 0; i < 6; ++i) nested = PutIndex({nested});
  Name(nested, "2");
  EXPECT_THAT(Names(Select("2")), HasSubstr("nested"));
}

TEST_F(SelectPlatformsTest, AFlatListOfPlatformsIsOneImage) {
  ASSERT_TRUE(layout->List(PutImage("amd64")).ok());
  ASSERT_TRUE(layout->List(PutImage("arm64")).ok());
  EXPECT_EQ(Names(Select("")), "linux/amd64 linux/arm64 ");
}

TEST_F(SelectPlatformsTest, WhatIsNoImageIsNamedSo) {
  EXPECT_THAT(Names(Select("1")), HasSubstr("there is no image"));
  Name(PutImage("x", false, "application/vnd.example+json"), "1");
  EXPECT_THAT(Names(Select("1")), HasSubstr("not an image"));
  Name(Put(oci::kMediaTypeImageIndex, "[]"), "2");
  EXPECT_THAT(Names(Select("2")), HasSubstr("not an image index"));
  FakeRegistryClient registry;
  const oci::Reference reference = oci::Reference::Parse("host.example/chart:1").value();
  registry.AddManifest(reference, "1", "application/x", R"({"mediaType":"application/x"})");
  auto home = MakeRegistryHome(registry, reference);
  EXPECT_THAT(Names(SelectPlatforms(*home, {}, {})), HasSubstr("its media type is \"application/x\""));
}

TEST_F(SelectPlatformsTest, ADamagedManifestIsDataLoss) {
  const oci::Descriptor image = PutImage("amd64", false);
  Name({.media_type = image.media_type, .digest = image.digest, .size = image.size + 1}, "1");
  EXPECT_TRUE(absl::IsDataLoss(Select("1").status()));
}

TEST(RegistryHome, TheManifestIsFetchedOnce) {
  FakeRegistryClient registry;
  const oci::Reference reference = oci::Reference::Parse("host.example/app:1").value();
  const std::string config = R"({"architecture":"amd64","os":"linux","rootfs":{"diff_ids":[]}})";
  oci::Manifest manifest{.media_type = std::string(oci::kMediaTypeManifest)};
  manifest.config = {.media_type = std::string(oci::kMediaTypeImageConfig),
                     .digest = oci::Digest::Of(config),
                     .size = static_cast<int64_t>(config.size())};
  ASSERT_TRUE(registry.PushBlob(reference, manifest.config, config).ok());
  registry.AddManifest(reference, "1", oci::kMediaTypeManifest, manifest.ToJson());
  const size_t before = registry.requests().size();
  auto home = MakeRegistryHome(registry, reference);
  ASSERT_TRUE(SelectPlatforms(*home, {}, {}).ok());
  EXPECT_EQ(registry.requests().size(), before + 2);  // manifest and config
}

}  // namespace
}  // namespace soci
