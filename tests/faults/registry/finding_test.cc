// Finding what is said about an image in registries that say it in their own ways.
#include "indexer/oci/annotations.h"
#include "indexer/oci/manifest.h"
#include "indexer/registry/referrers_tag.h"
#include "tests/faults/registry/scenario.h"

namespace soci::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Referrers = RegistryScript::Referrers;

constexpr char kRepo[] = "team/image";
constexpr char kOther[] = "application/vnd.example.signature";

class Finding : public ::testing::Test {
 protected:
  // An image with a signature and two SOCI indexes, listed by the API.
  Finding() {
    image_ = registry_.AddManifest(kRepo, "latest", oci::kMediaTypeManifest, R"({"schemaVersion":2})").digest;
    for (const char* name : {"one", "two"}) {
      indexes_.push_back(Entry(name, oci::kMediaTypeSociIndexV1));
      registry_.AddReferrer(kRepo, image_, Entry(name + std::string("signature"), kOther));
      registry_.AddReferrer(kRepo, image_, indexes_.back());
    }
  }

  static oci::Descriptor Entry(const std::string& name, std::string_view artifact_type) {
    oci::Descriptor entry;
    entry.media_type = std::string(oci::kMediaTypeManifest);
    entry.digest = oci::Digest::Of(name);
    entry.size = 100;
    entry.artifact_type = std::string(artifact_type);
    return entry;
  }
  void ListByTag(const std::vector<oci::Descriptor>& entries) {
    oci::ImageIndex index{.media_type = std::string(oci::kMediaTypeImageIndex)};
    index.manifests = entries;
    registry_.AddManifest(kRepo, ReferrersTag(image_), oci::kMediaTypeImageIndex, index.ToJson());
  }
  Result<std::vector<oci::Descriptor>> Find(Machine& machine) {
    return machine.client().FindReferrers(registry_.Reference(kRepo), image_, oci::kMediaTypeSociIndexV1, {});
  }
  void Use(Referrers referrers) {
    registry_.Change([referrers](RegistryScript& script) { script.referrers = referrers; });
  }

  ScriptedRegistry registry_;
  oci::Digest image_;
  std::vector<oci::Descriptor> indexes_;
};

TEST_F(Finding, B3_TheSameIndexesAreFoundFilteredUnfilteredAndPaged) {
  for (Referrers referrers : {Referrers::kApi, Referrers::kUnfiltered, Referrers::kPaged}) {
    Use(referrers);
    Machine machine;
    auto found = Find(machine);
    ASSERT_TRUE(found.ok()) << found.status();
    EXPECT_THAT(*found, ElementsAre(indexes_[0], indexes_[1]));
    EXPECT_EQ(registry_.Count("GET", "/manifests/sha256-"), 0u) << "the tag is for registries without the API";
  }
}

TEST_F(Finding, B2_ALoginPageInsteadOfReferrersMeansNotSupported) {
  Use(Referrers::kLoginPage);
  ListByTag({indexes_[1]});
  Machine machine;
  auto found = Find(machine);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_THAT(*found, ElementsAre(indexes_[1]));
}

TEST_F(Finding, B3_WrongAnswersLeadToTheTag) {
  ListByTag({Entry("signature", kOther), indexes_[1]});
  for (Referrers referrers : {Referrers::kMissing, Referrers::kNotAllowed, Referrers::kLoginPage,
                              Referrers::kAlwaysEmpty, Referrers::kWrongType}) {
    Use(referrers);
    Machine machine;
    auto found = Find(machine);
    ASSERT_TRUE(found.ok()) << found.status();
    EXPECT_THAT(*found, ElementsAre(indexes_[1]));
  }
}

TEST_F(Finding, B3_NeitherApiNorTagIsAnEmptyListNotAnError) {
  for (Referrers referrers :
       {Referrers::kMissing, Referrers::kNotAllowed, Referrers::kLoginPage, Referrers::kAlwaysEmpty}) {
    Use(referrers);
    Machine machine;
    auto found = Find(machine);
    ASSERT_TRUE(found.ok()) << found.status();
    EXPECT_THAT(*found, IsEmpty());
  }
}

TEST_F(Finding, ATagThatHoldsSomethingElseIsAnEmptyList) {
  Use(Referrers::kMissing);
  registry_.AddManifest(kRepo, ReferrersTag(image_), "text/html", "<html></html>");
  Machine machine;
  auto found = Find(machine);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_THAT(*found, IsEmpty());
}

TEST_F(Finding, ARegistryInTroubleIsAFailureNotAnAbsence) {
  registry_.Change([](RegistryScript& script) {
    script.troubles.push_back(
        {.part = "/referrers/", .effect = [](Answer& answer) { answer = Answer{.status = 503}; }});
  });
  ListByTag({});
  Machine machine;
  EXPECT_TRUE(absl::IsUnavailable(Find(machine).status()));
}

TEST_F(Finding, AbsenceIsRememberedForAMinuteAndNoLonger) {
  Use(Referrers::kMissing);
  Machine machine;
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(Find(machine).ok());
  EXPECT_EQ(registry_.Count("GET", "/referrers/"), 1u);
  EXPECT_EQ(registry_.Count("GET", "/manifests/sha256-"), 1u);
  Use(Referrers::kApi);
  machine.clock().Advance(std::chrono::seconds(61));
  auto found = Find(machine);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->size(), 2u);
}

TEST_F(Finding, WhatWeThenPushIsFoundAtOnce) {
  Use(Referrers::kMissing);
  Machine machine;
  EXPECT_THAT(*Find(machine), IsEmpty());
  ASSERT_TRUE(AddToReferrersTag(machine.client(), registry_.Reference(kRepo), image_, indexes_[0], {}).ok());
  EXPECT_THAT(*Find(machine), ElementsAre(indexes_[0]));
}

TEST_F(Finding, PagesThatLeadElsewhereAreNotFollowed) {
  ScriptedRegistry stranger;
  registry_.Change([&](RegistryScript& script) {
    script.troubles.push_back({.part = "/referrers/", .effect = [&](Answer& answer) {
                                 answer.With("Link", "<" + stranger.registry().url() + "/v2/x>; rel=next");
                               }});
  });
  Machine machine;
  EXPECT_TRUE(Find(machine).ok());
  EXPECT_TRUE(stranger.registry().requests().empty());
}

TEST_F(Finding, PagesWithoutEndEnd) {
  registry_.Change([&](RegistryScript& script) {
    script.troubles.push_back({.part = "/referrers/", .effect = [n = std::make_shared<int>(0)](Answer& answer) {
                                 answer.With("Link", "<?page=" + std::to_string(++*n) + ">; rel=next");
                               }});
  });
  Machine machine;
  EXPECT_TRUE(Find(machine).ok());
  EXPECT_LE(registry_.Count("GET", "/referrers/"), 100u);
}

TEST_F(Finding, B11_APlainHttpRegistryIsPlainOnEveryPath) {
  std::string layer = PatternBytes(1000);
  oci::Descriptor blob = registry_.AddBlob(kRepo, layer);
  RegistryClientOptions options;
  options.hosts.plain_http = RegistryHostsOptions::PlainHttp::kNever;
  options.hosts.plain_http_hosts = {registry_.host()};
  Machine machine(MakeAnonymousCredentials(), options);
  EXPECT_TRUE(machine.client().FetchManifest(registry_.Reference(kRepo), "latest", {}).ok());
  EXPECT_TRUE(machine.client().FetchBlob(registry_.Reference(kRepo), blob, {}).ok());
  EXPECT_EQ(ReadPart(*machine.Open(registry_, kRepo, blob), 1, 10), layer.substr(1, 10));
  EXPECT_EQ(Find(machine)->size(), 2u);
}

TEST_F(Finding, B19_TheFirstFindSucceedsHoweverSlowlyTheFirstAnswerComes) {
  registry_.Change([](RegistryScript& script) {
    script.troubles.push_back({.times = 100, .effect = [](Answer& answer) { answer.piece = 40; }});
  });
  for (int i = 0; i < 50; ++i) {
    Machine machine;
    auto found = Find(machine);
    ASSERT_TRUE(found.ok()) << found.status();
    EXPECT_EQ(found->size(), 2u);
  }
}

TEST_F(Finding, AManifestIsCheckedAgainstItsDigestAndItsSizeIsLimited) {
  Machine machine;
  oci::Descriptor manifest = registry_.AddManifest(kRepo, "", oci::kMediaTypeManifest, R"({"schemaVersion":2,"x":1})");
  registry_.Change([](RegistryScript& script) {
    script.troubles.push_back(
        {.part = "/manifests/sha256:", .times = 1, .effect = [](Answer& answer) { answer.flip_bit_at = 3; }});
  });
  auto fetched = machine.client().FetchManifest(registry_.Reference(kRepo), manifest.digest.ToString(), {});
  ASSERT_TRUE(fetched.ok()) << fetched.status();
  registry_.Change([](RegistryScript& script) {
    script.troubles.push_back({.part = "/manifests/sha256:", .effect = [](Answer& answer) { answer.flip_bit_at = 3; }});
  });
  fetched = machine.client().FetchManifest(registry_.Reference(kRepo), manifest.digest.ToString(), {});
  EXPECT_TRUE(absl::IsDataLoss(fetched.status())) << fetched.status();
  registry_.AddManifest(kRepo, "large", oci::kMediaTypeManifest, std::string(9 << 20, ' '));
  fetched = machine.client().FetchManifest(registry_.Reference(kRepo), "large", {});
  EXPECT_TRUE(absl::IsResourceExhausted(fetched.status())) << fetched.status();
}

}  // namespace
}  // namespace soci::test
