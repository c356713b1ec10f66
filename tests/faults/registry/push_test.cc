// Pushing to registries that are particular about what they take.
#include <thread>

#include "indexer/oci/annotations.h"
#include "indexer/oci/manifest.h"
#include "indexer/registry/referrers_tag.h"
#include "indexer/registry/registry_error.h"
#include "tests/faults/registry/scenario.h"

namespace soci::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;

constexpr char kRepo[] = "team/image";

oci::Descriptor DescriptorOf(const std::string& bytes) {
  oci::Descriptor blob;
  blob.media_type = "application/octet-stream";
  blob.digest = oci::Digest::Of(bytes);
  blob.size = static_cast<int64_t>(bytes.size());
  return blob;
}

std::string IndexManifest(const oci::Digest& subject) {
  oci::Manifest manifest;
  manifest.media_type = std::string(oci::kMediaTypeManifest);
  manifest.config = DescriptorOf("{}");
  manifest.config.media_type = std::string(oci::kMediaTypeSociIndexV1);
  manifest.subject = oci::Descriptor{.media_type = std::string(oci::kMediaTypeManifest), .digest = subject, .size = 1};
  return manifest.ToJson();
}

TEST(Push, B1_ARefusedSubjectIsNamedAndDoesNotHarmTheImage) {
  ScriptedRegistry registry({.refuses_subject = true});
  Machine machine;
  oci::Reference repository = registry.Reference(kRepo);
  std::string image = R"({"schemaVersion":2})";
  ASSERT_TRUE(machine.client().PushManifest(repository, "latest", oci::kMediaTypeManifest, image).ok());
  std::string index = IndexManifest(oci::Digest::Of(image));
  auto pushed =
      machine.client().PushManifest(repository, oci::Digest::Of(index).ToString(), oci::kMediaTypeManifest, index);
  EXPECT_TRUE(absl::IsInvalidArgument(pushed.status())) << pushed.status();
  EXPECT_THAT(pushed.status().ToString(), HasSubstr("400 MANIFEST_INVALID"));
  EXPECT_TRUE(machine.client().FetchManifest(repository, "latest", {}).ok());
  EXPECT_EQ(registry.Count("PUT", "/manifests/sha256"), 1u) << "a refusal is not tried again";
}

TEST(Push, B4_ARegistryThatTakesNoArtifactsSaysSo) {
  ScriptedRegistry registry({.refuses_artifacts = true});
  Machine machine;
  std::string index = IndexManifest(oci::Digest::Of("image"));
  auto pushed = machine.client().PushManifest(registry.Reference(kRepo), oci::Digest::Of(index).ToString(),
                                              oci::kMediaTypeManifest, index);
  EXPECT_TRUE(absl::IsUnimplemented(pushed.status())) << pushed.status();
  EXPECT_EQ(HttpStatusOf(pushed.status()), 405);
}

TEST(Push, B5_ATaggedIndexIsFoundByItsTag) {
  ScriptedRegistry registry;
  Machine machine;
  oci::Reference repository = registry.Reference(kRepo);
  std::string index = IndexManifest(oci::Digest::Of("image"));
  ASSERT_TRUE(machine.client().PushManifest(repository, "soci", oci::kMediaTypeManifest, index).ok());
  auto fetched = machine.client().FetchManifest(repository, "soci", {});
  ASSERT_TRUE(fetched.ok()) << fetched.status();
  EXPECT_EQ(fetched->body, index);
}

TEST(Push, TheRegistrySaysWhetherItListsTheReferrer) {
  for (bool takes : {true, false}) {
    ScriptedRegistry registry({.takes_subject = takes});
    Machine machine;
    std::string index = IndexManifest(oci::Digest::Of("image"));
    auto pushed = machine.client().PushManifest(registry.Reference(kRepo), oci::Digest::Of(index).ToString(),
                                                oci::kMediaTypeManifest, index);
    ASSERT_TRUE(pushed.ok()) << pushed.status();
    EXPECT_EQ(pushed->subject_accepted, takes);
  }
}

TEST(Push, WhatExistsIsNotSentAgain) {
  ScriptedRegistry registry;
  Machine machine;
  std::string bytes = PatternBytes(100'000);
  oci::Descriptor blob = registry.AddBlob(kRepo, bytes);
  EXPECT_TRUE(machine.client().PushBlob(registry.Reference(kRepo), blob, bytes).ok());
  EXPECT_EQ(registry.Count("POST", ""), 0u);
  EXPECT_EQ(registry.Count("PUT", ""), 0u);
}

TEST(Push, ABrokenUploadGoesOnWhereItBroke) {
  ScriptedRegistry registry;
  registry.Change([](RegistryScript& script) {
    // The answer to the third piece is lost; the registry has the bytes.
    script.troubles.push_back({.method = "PATCH", .from = 3, .times = 1, .effect = [](Answer& answer) {
                                 answer.body.clear();
                                 answer.reset_at = 0;
                               }});
  });
  RegistryClientOptions options;
  options.push_piece = 10'000;
  Machine machine(MakeAnonymousCredentials(), options);
  std::string bytes = PatternBytes(75'000);
  Status pushed = machine.client().PushBlob(registry.Reference(kRepo), DescriptorOf(bytes), bytes);
  ASSERT_TRUE(pushed.ok()) << pushed;
  EXPECT_TRUE(registry.Blob(oci::Digest::Of(bytes)) == bytes);
  EXPECT_EQ(registry.Count("POST", "/blobs/uploads/"), 1u);
}

TEST(Push, ARegistryThatTakesNoPiecesGetsTheWhole) {
  ScriptedRegistry registry({.refuses_pieces = true});
  RegistryClientOptions options;
  options.push_piece = 10'000;
  Machine machine(MakeAnonymousCredentials(), options);
  std::string bytes = PatternBytes(75'000);
  Status pushed = machine.client().PushBlob(registry.Reference(kRepo), DescriptorOf(bytes), bytes);
  ASSERT_TRUE(pushed.ok()) << pushed;
  EXPECT_TRUE(registry.Blob(oci::Digest::Of(bytes)) == bytes);
}

TEST(Push, AThrottledPushSucceedsInTheEnd) {
  ScriptedRegistry registry;
  registry.Change([](RegistryScript& script) {
    script.troubles.push_back({.every = 2, .times = 6, .effect = [](Answer& answer) {
                                 answer = Answer{.status = 503}.With("Retry-After", "2");
                               }});
  });
  Machine machine;
  std::string bytes = PatternBytes(5000);
  Status pushed = machine.client().PushBlob(registry.Reference(kRepo), DescriptorOf(bytes), bytes);
  ASSERT_TRUE(pushed.ok()) << pushed;
}

TEST(Push, WrongBytesAreNotSent) {
  ScriptedRegistry registry;
  Machine machine;
  EXPECT_TRUE(absl::IsInvalidArgument(machine.client().PushBlob(registry.Reference(kRepo), DescriptorOf("a"), "b")));
  EXPECT_TRUE(registry.registry().requests().empty());
}

// Parallel writers of one referrers tag, each on a machine of its own.
void ExpectNoEntryLost(ScriptedRegistry& registry, int writers, std::chrono::milliseconds settle) {
  oci::Digest subject = oci::Digest::Of("image");
  std::vector<oci::Descriptor> entries;
  for (int i = 0; i < writers; ++i) {
    entries.push_back(DescriptorOf("entry " + std::to_string(i)));
    entries.back().artifact_type = std::string(oci::kMediaTypeSociIndexV1);
  }
  std::vector<std::thread> threads;
  for (int i = 0; i < writers; ++i) {
    threads.emplace_back([&, i] {
      Machine machine;
      Status added = AddToReferrersTag(machine.client(), registry.Reference(kRepo), subject, entries[i], settle);
      EXPECT_TRUE(added.ok()) << added;
    });
  }
  for (std::thread& thread : threads) thread.join();
  auto index = oci::ImageIndex::Parse(registry.Manifest(kRepo, ReferrersTag(subject)));
  ASSERT_TRUE(index.ok()) << index.status();
  EXPECT_THAT(index->manifests, IsSupersetOf(entries));
  EXPECT_EQ(index->manifests.size(), entries.size());
}

// Several machines index the same image at once: one entry in the end, and the one that was there before stays.
TEST(Push, ParallelPushesOfOneIndexEndInOneTagEntry) {
  for (bool compares : {true, false}) {
    ScriptedRegistry registry({.compares_etags = compares});
    const oci::Digest subject = oci::Digest::Of("image");
    oci::Descriptor index = DescriptorOf("index"), other = DescriptorOf("signature");
    index.artifact_type = std::string(oci::kMediaTypeSociIndexV1);
    other.artifact_type = "application/vnd.example.signature";
    Machine first;
    ASSERT_TRUE(AddToReferrersTag(first.client(), registry.Reference(kRepo), subject, other, {}).ok());
    std::vector<std::thread> pushes;
    for (int i = 0; i < 8; ++i) {
      pushes.emplace_back([&] {
        Machine machine;
        Status added = AddToReferrersTag(machine.client(), registry.Reference(kRepo), subject, index, {});
        EXPECT_TRUE(added.ok()) << added;
      });
    }
    for (std::thread& push : pushes) push.join();
    auto tag = oci::ImageIndex::Parse(registry.Manifest(kRepo, ReferrersTag(subject)));
    ASSERT_TRUE(tag.ok()) << tag.status();
    EXPECT_THAT(tag->manifests, ElementsAre(other, index));
  }
}

TEST(Push, ParallelWritersOfOneTagLoseNothingWhereTheRegistryCompares) {
  ScriptedRegistry registry({.compares_etags = true});
  ExpectNoEntryLost(registry, 8, {});
}

TEST(Push, ParallelWritersOfOneTagLoseNothingWhereItDoesNot) {
  ScriptedRegistry registry;
  ExpectNoEntryLost(registry, 6, std::chrono::milliseconds(500));
}

}  // namespace
}  // namespace soci::test
