#include "indexer/index/record_artifact.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "indexer/index/registry_home.h"
#include "indexer/oci/annotations.h"
#include "indexer/record/merge_records.h"
#include "indexer/record/record_builder.h"
#include "indexer/record/record_codec.h"
#include "tests/fakes/fake_registry_client.h"

namespace soci {
namespace {

using testing::HasSubstr;

class RecordArtifactTest : public testing::Test {
 protected:
  void SetUp() override {
    oci::Manifest manifest{.media_type = std::string(oci::kMediaTypeManifest)};
    manifest.config = {
        .media_type = std::string(oci::kMediaTypeImageConfig), .digest = oci::Digest::Of("config"), .size = 6};
    manifest.layers = {
        {.media_type = std::string(oci::kMediaTypeLayerGzip), .digest = oci::Digest::Of("layer"), .size = 5}};
    const std::string json = manifest.ToJson();
    image_ = {.descriptor = {.media_type = std::string(oci::kMediaTypeManifest),
                             .digest = registry_.AddManifest(repository_, "tag", oci::kMediaTypeManifest, json),
                             .size = static_cast<int64_t>(json.size())},
              .platform = {},
              .manifest = manifest};
    home_ = MakeRegistryHome(registry_, repository_);
  }
  Record RecordOf(const std::string& path) {
    const oci::LayerDigest layer(oci::Digest::Of("layer"));
    RecordBuilder builder(image_.descriptor.digest, {layer});
    builder.Add(layer, path, 5'000, 0, 5'000, 100);
    return builder.Build();
  }
  Result<std::optional<FoundRecord>> Find() { return FindRecord(registry_, repository_, image_.descriptor.digest, {}); }
  // A record's manifest as somebody else might write it.
  oci::Manifest Manifest(const std::string& bytes) {
    oci::Manifest manifest{.media_type = std::string(oci::kMediaTypeManifest),
                           .artifact_type = std::string(oci::kArtifactTypeRecord)};
    manifest.config = {
        .media_type = std::string(oci::kMediaTypeEmptyConfig), .digest = oci::Digest::Of("{}"), .size = 2};
    manifest.layers = {{.media_type = std::string(oci::kMediaTypeRecord),
                        .digest = oci::Digest::Of(bytes),
                        .size = static_cast<int64_t>(bytes.size())}};
    manifest.subject = image_.descriptor;
    return manifest;
  }
  oci::Digest Push(const oci::Manifest& manifest, const std::string& bytes) {
    EXPECT_TRUE(registry_.PushBlob(repository_, manifest.layers[0], bytes).ok());
    const std::string json = manifest.ToJson();
    return registry_.AddManifest(repository_, oci::Digest::Of(json).ToString(), oci::kMediaTypeManifest, json);
  }
  std::string WhyDamaged(const oci::Manifest& manifest, const std::string& bytes) {
    Push(manifest, bytes);
    const auto found = Find();
    EXPECT_TRUE(IsRecordDamage(found.status())) << found.status();
    return std::string(Message(found.status()));
  }

  FakeRegistryClient registry_;
  const oci::Reference repository_ = oci::Reference::Parse("host.example/app:tag").value();
  PlatformImage image_;
  std::unique_ptr<ImageHome> home_;
};

TEST_F(RecordArtifactTest, WhatIsPutIsFoundByTheApiAndByTheTag) {
  for (const bool api : {true, false}) {
    registry_.referrers_api = api;
    const auto before = Find();
    ASSERT_TRUE(before.ok()) << before.status();
    const Record record = RecordOf(api ? "a" : "b");
    const Result<oci::Digest> artifact = PutRecord(*home_, image_, record);
    ASSERT_TRUE(artifact.ok()) << artifact.status();
    const auto found = Find();
    ASSERT_TRUE(found.ok()) << found.status();
    ASSERT_TRUE(found->has_value());
    if (!api) {
      EXPECT_EQ((*found)->artifact, *artifact);
      EXPECT_EQ((*found)->record, record);
    }
  }
}

TEST_F(RecordArtifactTest, AnImageWithoutOneIsAnAnswerAndNoError) {
  const auto found = Find();
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_FALSE(found->has_value());
}

TEST_F(RecordArtifactTest, OfSeveralThatOfTheMostRunsCounts) {
  const Record merged = MergeRecords({RecordOf("a"), RecordOf("b"), RecordOf("c")}).value();
  ASSERT_TRUE(PutRecord(*home_, image_, RecordOf("a")).ok());
  const oci::Digest artifact = PutRecord(*home_, image_, merged).value();
  ASSERT_TRUE(PutRecord(*home_, image_, RecordOf("d")).ok());
  EXPECT_EQ(Find().value()->artifact, artifact);
  EXPECT_EQ(Find().value()->record, merged);
}

TEST_F(RecordArtifactTest, ADamagedOneIsPassedOverForAnother) {
  oci::Manifest liar = Manifest("junk");
  liar.annotations[std::string(oci::kAnnotationRecordRuns)] = "64";
  EXPECT_THAT(WhyDamaged(liar, "junk"), HasSubstr("zstd"));
  ASSERT_TRUE(PutRecord(*home_, image_, RecordOf("a")).ok());
  EXPECT_EQ(Find().value()->record, RecordOf("a"));
}

TEST_F(RecordArtifactTest, OneThatLiesAboutItsRunsIsDamaged) {
  const std::string bytes = EncodeRecord(RecordOf("a")).value();
  oci::Manifest liar = Manifest(bytes);
  liar.annotations[std::string(oci::kAnnotationRecordRuns)] = "2";
  EXPECT_THAT(WhyDamaged(liar, bytes), HasSubstr("fewer runs"));
}

TEST_F(RecordArtifactTest, OneThatIsAboutAnotherImageIsDamaged) {
  Record other = RecordOf("a");
  other.manifest = oci::Digest::Of("another image");
  const std::string bytes = EncodeRecord(other).value();
  EXPECT_THAT(WhyDamaged(Manifest(bytes), bytes), HasSubstr("the record is about"));
  EXPECT_FALSE(PutRecord(*home_, image_, other).ok());
}

TEST_F(RecordArtifactTest, OneThatIsListedForAnotherSubjectIsDamaged) {
  const std::string bytes = EncodeRecord(RecordOf("a")).value();
  oci::Manifest stray = Manifest(bytes);
  stray.subject->digest = oci::Digest::Of("another image");
  const oci::Digest digest = Push(stray, bytes);
  registry_.AddReferrer(repository_, image_.descriptor.digest,
                        {.media_type = std::string(oci::kMediaTypeManifest),
                         .digest = digest,
                         .size = static_cast<int64_t>(stray.ToJson().size()),
                         .artifact_type = std::string(oci::kArtifactTypeRecord)});
  EXPECT_THAT(std::string(Message(Find().status())), HasSubstr("about another"));
}

TEST_F(RecordArtifactTest, ABlobBeyondTheLimitIsNotFetched) {
  const std::string bytes = EncodeRecord(RecordOf("a")).value();
  oci::Manifest huge = Manifest(bytes);
  huge.layers[0].size = int64_t{1} << 40;
  EXPECT_THAT(WhyDamaged(huge, bytes), HasSubstr("more than"));
  EXPECT_THAT(registry_.requests(), testing::Not(testing::Contains(HasSubstr("GET blobs"))));
}

TEST_F(RecordArtifactTest, ARegistryThatFailsIsNotTakenForOneWithoutARecord) {
  ASSERT_TRUE(PutRecord(*home_, image_, RecordOf("a")).ok());
  registry_.fail = [](const std::string& request) {
    return request.starts_with("GET manifests") ? absl::UnavailableError("down") : OkStatus();
  };
  EXPECT_TRUE(absl::IsUnavailable(Find().status()));
  EXPECT_FALSE(IsRecordDamage(Find().status()));
}

TEST_F(RecordArtifactTest, ARecordOfLayersThatTheImageLacksIsNotPut) {
  Record record = RecordOf("a");
  record.layers.push_back(oci::LayerDigest(oci::Digest::Of("stranger")));
  EXPECT_THAT(std::string(Message(PutRecord(*home_, image_, record).status())), HasSubstr("the image lacks"));
}

}  // namespace
}  // namespace soci
