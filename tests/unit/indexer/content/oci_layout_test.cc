#include "indexer/content/oci_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "indexer/base/file_io.h"
#include "indexer/content/read_blob.h"
#include "indexer/oci/annotations.h"
#include "tests/support/temporary_directory.h"

namespace soci {
namespace {

using testing::HasSubstr;

class OciLayoutTest : public testing::Test {
 protected:
  OciLayoutTest() { layout = OciLayout::OpenOrCreate(directory.path()).value(); }

  oci::Descriptor Put(const std::string& bytes, std::string_view media_type = oci::kMediaTypeManifest) {
    oci::Descriptor blob{
        .media_type = std::string(media_type), .digest = oci::Digest::Of(bytes), .size = int64_t(bytes.size())};
    EXPECT_TRUE(layout->Put(blob, bytes).ok());
    return blob;
  }

  void ListNamed(oci::Descriptor entry, const std::string& name) {
    if (!name.empty()) entry.annotations[std::string(oci::kAnnotationRefName)] = name;
    ASSERT_TRUE(layout->List(entry).ok());
  }

  std::string BlobPath(const oci::Descriptor& blob) { return directory / "blobs/sha256/" + blob.digest.Hex(); }

  test::TemporaryDirectory directory;
  std::unique_ptr<OciLayout> layout;
};

TEST_F(OciLayoutTest, BytesComeBackUnderTheirDigest) {
  const oci::Descriptor blob = Put("hello");
  EXPECT_EQ(ReadBlob(*layout, blob).value(), "hello");
  EXPECT_TRUE(layout->Put(blob, "hello").ok());
  EXPECT_TRUE(absl::IsInternal(layout->Put(blob, "other")));
}

TEST_F(OciLayoutTest, ABlobThatIsNotThereIsNotFoundAndNamed) {
  const oci::Descriptor blob{.digest = oci::Digest::Of("x"), .size = 1};
  const Status status = ReadBlob(*layout, blob).status();
  EXPECT_TRUE(absl::IsNotFound(status));
  EXPECT_THAT(std::string(Message(status)), HasSubstr(blob.digest.ToString()));
}

TEST_F(OciLayoutTest, ADamagedBlobIsDataLossAndPutMendsIt) {
  const oci::Descriptor blob = Put("hello");
  for (const char* damaged : {"hellO", "hell", ""}) {
    ASSERT_TRUE(WriteFileAtomic(BlobPath(blob), damaged).ok());
    EXPECT_TRUE(absl::IsDataLoss(ReadBlob(*layout, blob).status())) << damaged;
    ASSERT_TRUE(layout->Put(blob, "hello").ok());
    EXPECT_EQ(ReadBlob(*layout, blob).value(), "hello");
  }
  EXPECT_TRUE(absl::IsResourceExhausted(ReadBlob(*layout, blob, 4).status()));
}

TEST_F(OciLayoutTest, ImagesAreFoundByTagAndByContainerdName) {
  ListNamed(Put("one"), "1");
  oci::Descriptor two = Put("two");
  two.annotations[std::string(oci::kAnnotationContainerdName)] = "host.example/app:2";
  ListNamed(two, "2");
  EXPECT_EQ(layout->Resolve("1").value()->digest, oci::Digest::Of("one"));
  EXPECT_EQ(layout->Resolve("host.example/app:2").value()->digest, two.digest);
  EXPECT_FALSE(layout->Resolve("3").value().has_value());
  EXPECT_TRUE(absl::IsInvalidArgument(layout->Resolve("").status()));
}

TEST_F(OciLayoutTest, ArtifactsBesideTheOnlyImageDoNotDisturb) {
  ListNamed(Put("image"), "");
  oci::Descriptor artifact = Put("artifact");
  artifact.artifact_type = oci::kMediaTypeSociIndexV1;
  ListNamed(artifact, "");
  oci::Descriptor attestation = Put("attestation");
  attestation.platform = oci::Platform{.architecture = "unknown", .os = "unknown"};
  ListNamed(attestation, "");
  EXPECT_EQ(layout->Resolve("").value()->digest, oci::Digest::Of("image"));
}

TEST_F(OciLayoutTest, ReferrersAreFoundByTheirSubjectAndType) {
  const oci::Digest subject = oci::Digest::Of("image");
  oci::Manifest manifest;
  manifest.media_type = oci::kMediaTypeManifest;
  manifest.config = {.media_type = std::string(oci::kMediaTypeSociIndexV1), .digest = oci::Digest::Of("{}"), .size = 2};
  manifest.subject = oci::Descriptor{.media_type = std::string(oci::kMediaTypeManifest), .digest = subject, .size = 5};
  const oci::Descriptor referrer = Put(manifest.ToJson());
  ListNamed(referrer, "");  // written by a tool that says nothing of its type
  ListNamed(Put("image"), "1");
  const auto found = layout->FindReferrers(subject, oci::kMediaTypeSociIndexV1).value();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].digest, referrer.digest);
  EXPECT_EQ(found[0].artifact_type, oci::kMediaTypeSociIndexV1);
  EXPECT_EQ(layout->FindReferrers(subject, "").value().size(), 1u);
  EXPECT_TRUE(layout->FindReferrers(subject, "a/b").value().empty());
  EXPECT_TRUE(layout->FindReferrers(oci::Digest::Of("x"), "").value().empty());
}

TEST_F(OciLayoutTest, WritersOfOneLayoutDoNotLoseEachOthersEntries) {
  std::vector<std::thread> writers;
  for (int writer = 0; writer < 4; ++writer) {
    writers.emplace_back([&, writer] {
      auto own = OciLayout::Open(directory.path()).value();
      for (int i = 0; i < 5; ++i) {
        const oci::Digest digest = oci::Digest::Of(std::to_string(10 * writer + i));
        EXPECT_TRUE(own->List({.media_type = std::string(oci::kMediaTypeManifest), .digest = digest, .size = 1}).ok());
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(layout->FindImages("").value().size(), 20u);
}

TEST_F(OciLayoutTest, NothingButTheLayoutIsLeftInTheDirectory) {
  ListNamed(Put("one"), "1");
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory.path())) {
    if (entry.is_regular_file()) names.push_back(entry.path().lexically_relative(directory.path()));
  }
  EXPECT_THAT(
      names, testing::UnorderedElementsAre("oci-layout", "index.json", "blobs/sha256/" + oci::Digest::Of("one").Hex()));
}

TEST(OciLayoutOpen, SaysWhatIsWrongWithTheDirectory) {
  test::TemporaryDirectory directory;
  EXPECT_TRUE(absl::IsNotFound(OciLayout::Open(directory / "missing").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(OciLayout::Open(directory.path()).status()));
  ASSERT_TRUE(WriteFileAtomic(directory / "oci-layout", "{}").ok());
  EXPECT_THAT(std::string(Message(OciLayout::Open(directory.path()).status())), HasSubstr("index.json"));
  ASSERT_TRUE(WriteFileAtomic(directory / "index.json", "[").ok());
  EXPECT_THAT(std::string(Message(OciLayout::Open(directory.path()).status())),
              HasSubstr("index.json: not an image index"));
}

}  // namespace
}  // namespace soci
