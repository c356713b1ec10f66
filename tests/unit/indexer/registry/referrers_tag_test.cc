#include "indexer/registry/referrers_tag.h"

#include <gtest/gtest.h>

#include "indexer/oci/annotations.h"
#include "tests/fakes/fake_registry_client.h"

namespace soci {
namespace {

class ReferrersTagTest : public testing::Test {
 protected:
  ReferrersTagTest() { registry.referrers_api = false; }

  oci::Descriptor Entry(const std::string& name) {
    return {.media_type = std::string(oci::kMediaTypeManifest),
            .digest = oci::Digest::Of(name),
            .size = 1,
            .artifact_type = std::string(oci::kMediaTypeSociIndexV1)};
  }
  std::vector<oci::Descriptor> Listed() {
    return registry.FindReferrers(repository, subject, oci::kMediaTypeSociIndexV1, {}).value();
  }

  FakeRegistryClient registry;
  oci::Reference repository = oci::Reference::Parse("host.example/app").value();
  oci::Digest subject = oci::Digest::Of("image");
};

TEST_F(ReferrersTagTest, ATagIsMadeWhereThereIsNone) {
  ASSERT_TRUE(AddToReferrersTag(registry, repository, subject, Entry("a"), {}).ok());
  ASSERT_EQ(Listed().size(), 1u);
  EXPECT_EQ(Listed()[0], Entry("a"));
}

TEST_F(ReferrersTagTest, EntriesOfOthersStay) {
  ASSERT_TRUE(AddToReferrersTag(registry, repository, subject, Entry("a"), {}).ok());
  ASSERT_TRUE(AddToReferrersTag(registry, repository, subject, Entry("b"), {}).ok());
  EXPECT_EQ(Listed().size(), 2u);
}

TEST_F(ReferrersTagTest, TheSameEntryTwiceWritesOnce) {
  ASSERT_TRUE(AddToReferrersTag(registry, repository, subject, Entry("a"), {}).ok());
  const auto before = registry.requests();
  ASSERT_TRUE(AddToReferrersTag(registry, repository, subject, Entry("a"), {}).ok());
  EXPECT_EQ(registry.requests().size(), before.size() + 1);
}

TEST_F(ReferrersTagTest, AnEntryThatAnotherWriterLostIsPutInAgain) {
  int pushes = 0;
  registry.fail = [&](const std::string& request) {
    // Just before our second look somebody writes the tag as it was when he read it.
    if (request.starts_with("PUT")) ++pushes;
    if (pushes == 1 && request.starts_with("GET")) {
      pushes = 2;
      oci::ImageIndex other{.media_type = std::string(oci::kMediaTypeImageIndex), .manifests = {Entry("other")}};
      registry.AddManifest(repository, ReferrersTag(subject), oci::kMediaTypeImageIndex, other.ToJson());
    }
    return OkStatus();
  };
  ASSERT_TRUE(AddToReferrersTag(registry, repository, subject, Entry("a"), {}).ok());
  registry.fail = {};
  EXPECT_EQ(Listed().size(), 2u);
}

TEST_F(ReferrersTagTest, ATagThatHoldsSomethingElseIsNotOverwritten) {
  registry.AddManifest(repository, ReferrersTag(subject), oci::kMediaTypeManifest, R"({"layers":[],"config":{}})");
  EXPECT_TRUE(absl::IsInvalidArgument(AddToReferrersTag(registry, repository, subject, Entry("a"), {})));
}

TEST_F(ReferrersTagTest, ANetworkFaultIsNotTakenForAnEmptyTag) {
  registry.fail = [](const std::string&) { return absl::UnavailableError("reset"); };
  EXPECT_TRUE(absl::IsUnavailable(AddToReferrersTag(registry, repository, subject, Entry("a"), {})));
}

}  // namespace
}  // namespace soci
