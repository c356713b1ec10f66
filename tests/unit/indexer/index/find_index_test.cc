#include "indexer/index/find_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "indexer/oci/annotations.h"
#include "tests/fakes/fake_registry_client.h"

namespace soci {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

class FindIndexTest : public testing::Test {
 protected:
  // Pushes an image; `annotation` is what its manifest names as its index.
  oci::Digest PushImage(const std::string& annotation = "") {
    oci::Manifest image;
    image.media_type = oci::kMediaTypeManifest;
    image.config = {
        .media_type = std::string(oci::kMediaTypeImageConfig), .digest = oci::Digest::Of("config"), .size = 6};
    if (!annotation.empty()) image.annotations[std::string(oci::kAnnotationIndexDigest)] = annotation;
    return registry.AddManifest(repository, "tag", oci::kMediaTypeManifest, image.ToJson());
  }

  oci::Manifest Index(std::string_view type, const oci::Digest* subject, const std::string& salt = "") {
    oci::Manifest index;
    index.media_type = oci::kMediaTypeManifest;
    index.config = {.media_type = std::string(type), .digest = oci::Digest::Of("{}"), .size = 2};
    if (subject != nullptr) {
      index.subject =
          oci::Descriptor{.media_type = std::string(oci::kMediaTypeManifest), .digest = *subject, .size = 1};
    }
    index.annotations = {{"salt", salt}};
    return index;
  }

  oci::Digest Push(const oci::Manifest& index) {
    const std::string json = index.ToJson();
    return registry.AddManifest(repository, oci::Digest::Of(json).ToString(), oci::kMediaTypeManifest, json);
  }

  Result<std::optional<SociIndex>> Find(const oci::Digest& image, const FindOptions& options = {}) {
    return FindSociIndex(registry, repository, image, options, {});
  }

  FakeRegistryClient registry;
  oci::Reference repository = oci::Reference::Parse("host.example/app:tag").value();
};

TEST_F(FindIndexTest, AnImageWithoutAnIndexIsAnAnswerAndNoError) {
  Result<std::optional<SociIndex>> found = Find(PushImage());
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_FALSE(found->has_value());
}

TEST_F(FindIndexTest, TheNamedDigestComesFirstAndNothingElseIsAsked) {
  const oci::Digest image = PushImage();
  Push(Index(oci::kMediaTypeSociIndexV1, &image, "referrer"));
  const oci::Digest named = Push(Index(oci::kMediaTypeSociIndexV2, nullptr, "named"));
  Result<std::optional<SociIndex>> found = Find(image, {.named = named});
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ((*found)->digest, named);
  EXPECT_EQ((*found)->found_by, FoundBy::kNamedDigest);
  EXPECT_EQ(registry.requests().back(), "GET manifests " + named.ToString());
  EXPECT_THAT(registry.requests(), Not(Contains(HasSubstr("referrers"))));
}

TEST_F(FindIndexTest, ANamedDigestThatIsNotThereIsNotFound) {
  Result<std::optional<SociIndex>> found = Find(PushImage(), {.named = oci::Digest::Of("x")});
  EXPECT_TRUE(absl::IsNotFound(found.status()));
}

TEST_F(FindIndexTest, TheAnnotationOfTheManifestComesBeforeReferrersWhateverTheVersion) {
  for (std::string_view type : {oci::kMediaTypeSociIndexV1, oci::kMediaTypeSociIndexV2}) {
    const oci::Digest bound = Push(Index(type, nullptr, "bound"));
    const oci::Digest image = PushImage(bound.ToString());
    Push(Index(oci::kMediaTypeSociIndexV1, &image, "referrer"));
    Result<std::optional<SociIndex>> found = Find(image);
    ASSERT_TRUE(found.ok()) << found.status();
    EXPECT_EQ((*found)->digest, bound);
    EXPECT_EQ((*found)->found_by, FoundBy::kManifestAnnotation);
  }
}

TEST_F(FindIndexTest, AnAnnotationThatPointsToNothingFallsThroughToTheReferrers) {
  const oci::Digest image = PushImage(oci::Digest::Of("gone").ToString());
  EXPECT_FALSE(Find(image).value().has_value());
  const oci::Digest referrer = Push(Index(oci::kMediaTypeSociIndexV1, &image));
  EXPECT_EQ(Find(image).value()->digest, referrer);
}

TEST_F(FindIndexTest, AnAnnotationThatIsNoDigestIsAnError) {
  EXPECT_THAT(std::string(Message(Find(PushImage("latest")).status())), HasSubstr("com.amazon.soci.index-digest"));
}

TEST_F(FindIndexTest, BoundOnlyNeverAsksForReferrers) {
  const oci::Digest image = PushImage();
  Push(Index(oci::kMediaTypeSociIndexV1, &image));
  EXPECT_FALSE(Find(image, {.bound_only = true}).value().has_value());
  EXPECT_FALSE(Find(image, {.referrers = false}).value().has_value());
  EXPECT_THAT(registry.requests(), Not(Contains(HasSubstr("referrers"))));
}

TEST_F(FindIndexTest, ASecondNewerReferrerDoesNotChangeTheChoiceByItsPlaceInTheList) {
  const oci::Digest image = PushImage();
  std::vector<oci::Digest> digests;
  for (const char* salt : {"a", "b", "c", "d"})
    digests.push_back(Push(Index(oci::kMediaTypeSociIndexV1, &image, salt)));
  EXPECT_EQ(Find(image).value()->digest, *std::min_element(digests.begin(), digests.end()));
}

TEST_F(FindIndexTest, WorksThroughTheFallbackTag) {
  registry.referrers_api = false;
  const oci::Digest image = PushImage();
  const oci::Digest index = Push(Index(oci::kMediaTypeSociIndexV1, &image));
  oci::ImageIndex tag;
  tag.media_type = oci::kMediaTypeImageIndex;
  tag.manifests = {{.media_type = std::string(oci::kMediaTypeManifest),
                    .digest = index,
                    .size = 1,
                    .artifact_type = std::string(oci::kMediaTypeSociIndexV1)}};
  registry.AddManifest(repository, "sha256-" + image.Hex(), oci::kMediaTypeImageIndex, tag.ToJson());
  EXPECT_EQ(Find(image).value()->digest, index);
}

TEST_F(FindIndexTest, ReferrersThatAreGoneOrAboutAnotherImageArePassedOver) {
  const oci::Digest image = PushImage(), other = oci::Digest::Of("other");
  oci::Descriptor entry{.media_type = std::string(oci::kMediaTypeManifest), .digest = {}, .size = 1};
  entry.artifact_type = oci::kMediaTypeSociIndexV1;
  entry.digest = oci::Digest(oci::Digest::Raw{});  // the lowest of all, and not there
  registry.AddReferrer(repository, image, entry);
  EXPECT_FALSE(Find(image).value().has_value());
  entry.digest = Push(Index(oci::kMediaTypeSociIndexV1, &other));
  registry.AddReferrer(repository, image, entry);
  EXPECT_TRUE(absl::IsInvalidArgument(Find(image).status()));
  const oci::Digest right = Push(Index(oci::kMediaTypeSociIndexV1, &image));
  EXPECT_EQ(Find(image).value()->digest, right);
}

TEST_F(FindIndexTest, ANetworkFaultIsNotTakenForNoIndex) {
  const oci::Digest image = PushImage();
  const oci::Digest index = Push(Index(oci::kMediaTypeSociIndexV1, &image));
  for (const std::string& request : {"GET referrers " + image.ToString(), "GET manifests " + image.ToString(),
                                     "GET manifests " + index.ToString()}) {
    registry.fail = [&](const std::string& asked) {
      return asked == request ? absl::UnavailableError("connection refused") : OkStatus();
    };
    EXPECT_TRUE(absl::IsUnavailable(Find(image).status())) << request;
  }
}

TEST_F(FindIndexTest, AManifestThatIsNoSociIndexIsRefused) {
  const oci::Digest named = Push(Index(oci::kMediaTypeImageConfig, nullptr));
  EXPECT_TRUE(absl::IsInvalidArgument(Find(PushImage(), {.named = named}).status()));
}

TEST(SociIndex, PrefetchArtifactsAreNoZtocs) {
  const oci::LayerDigest layer(oci::Digest::Of("layer")), other(oci::Digest::Of("other"));
  SociIndex index;
  oci::Descriptor artifact{
      .media_type = std::string(oci::kMediaTypePrefetch), .digest = oci::Digest::Of("p"), .size = 1};
  artifact.annotations = {{std::string(oci::kAnnotationLayerDigest), layer.ToString()}};
  index.manifest.layers.push_back(artifact);
  EXPECT_EQ(index.ZtocFor(layer), nullptr);
  artifact.media_type = oci::kMediaTypeZtoc;
  index.manifest.layers.push_back(artifact);
  EXPECT_EQ(index.ZtocFor(layer), &index.manifest.layers[1]);
  EXPECT_EQ(index.ZtocFor(other), nullptr);
}

TEST(FetchZtoc, RefusesAMonstrousOneBeforeItIsFetched) {
  FakeRegistryClient registry;
  const oci::Reference repository = oci::Reference::Parse("host.example/app").value();
  const oci::Descriptor ztoc{.media_type = "", .digest = oci::Digest::Of("z"), .size = int64_t{1} << 40};
  EXPECT_TRUE(absl::IsInvalidArgument(FetchZtoc(registry, repository, ztoc, {}).status()));
  EXPECT_TRUE(registry.requests().empty());
}

}  // namespace
}  // namespace soci
