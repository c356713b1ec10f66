#include "indexer/content/oci_archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "indexer/base/file_io.h"
#include "indexer/content/read_blob.h"
#include "indexer/oci/annotations.h"
#include "tests/support/tar_builder.h"
#include "tests/support/temporary_directory.h"

namespace soci {
namespace {

using testing::HasSubstr;

oci::Descriptor DescriptorOf(const std::string& bytes) {
  return {.media_type = std::string(oci::kMediaTypeManifest),
          .digest = oci::Digest::Of(bytes),
          .size = static_cast<int64_t>(bytes.size())};
}

class OciArchiveTest : public testing::Test {
 protected:
  OciArchiveTest() {
    const oci::ImageIndex index{.media_type = std::string(oci::kMediaTypeImageIndex),
                                .manifests = {DescriptorOf("one")}};
    Write(test::TarBuilder()
              .File("oci-layout", R"({"imageLayoutVersion":"1.0.0"})")
              .Directory("./blobs/sha256")
              .File("./blobs/sha256/" + oci::Digest::Of("one").Hex(), "one")
              .File("index.json", index.ToJson())
              .File("manifest.json", "[]")
              .Finish());
  }
  void Write(const std::string& bytes) { ASSERT_TRUE(WriteFileAtomic(path, bytes).ok()); }

  test::TemporaryDirectory directory;
  std::string path = directory / "image.tar";
};

TEST_F(OciArchiveTest, BlobsAreReadInPlace) {
  auto archive = OciArchive::Open(path).value();
  EXPECT_EQ(ReadBlob(*archive, DescriptorOf("one")).value(), "one");
  EXPECT_EQ(archive->Resolve("").value()->digest, oci::Digest::Of("one"));
  EXPECT_TRUE(absl::IsNotFound(ReadBlob(*archive, DescriptorOf("two")).status()));
}

TEST_F(OciArchiveTest, NothingIsWrittenBeforeCommitAndAllOfItThen) {
  const std::string before = ReadFile(path).value();
  auto archive = OciArchive::Open(path).value();
  ASSERT_TRUE(archive->Put(DescriptorOf("two"), "two").ok());
  ASSERT_TRUE(archive->List(DescriptorOf("two")).ok());
  EXPECT_EQ(ReadBlob(*archive, DescriptorOf("two")).value(), "two");
  EXPECT_EQ(archive->FindImages("").value().size(), 2u);
  EXPECT_EQ(ReadFile(path).value(), before);
  ASSERT_TRUE(archive->Commit().ok());
  auto again = OciArchive::Open(path).value();
  EXPECT_EQ(ReadBlob(*again, DescriptorOf("one")).value(), "one");
  EXPECT_EQ(ReadBlob(*again, DescriptorOf("two")).value(), "two");
  EXPECT_EQ(again->FindImages("").value().size(), 2u);
  EXPECT_THAT(ReadFile(path).value(), HasSubstr("manifest.json"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory.path()), {}), 1);
  const std::string committed = ReadFile(path).value();
  ASSERT_TRUE(archive->Commit().ok());
  EXPECT_EQ(ReadFile(path).value(), committed);
}

TEST_F(OciArchiveTest, ADamagedBlobIsReplaced) {
  Write(test::TarBuilder()
            .File("oci-layout", "{}")
            .File("blobs/sha256/" + oci::Digest::Of("one").Hex(), "onE")
            .File("index.json", R"({"manifests":[]})")
            .Finish());
  auto archive = OciArchive::Open(path).value();
  EXPECT_TRUE(absl::IsDataLoss(ReadBlob(*archive, DescriptorOf("one")).status()));
  ASSERT_TRUE(archive->Put(DescriptorOf("one"), "one").ok());
  ASSERT_TRUE(archive->Commit().ok());
  EXPECT_EQ(ReadBlob(*OciArchive::Open(path).value(), DescriptorOf("one")).value(), "one");
}

TEST_F(OciArchiveTest, AnArchiveCutAnywhereIsRefusedOrReadsRight) {
  const std::string whole = ReadFile(path).value();
  for (size_t size = 0; size < whole.size(); size += 100) {
    Write(whole.substr(0, size));
    auto archive = OciArchive::Open(path);
    if (!archive.ok()) continue;
    EXPECT_EQ(ReadBlob(**archive, DescriptorOf("one")).value(), "one") << size;
  }
}

}  // namespace
}  // namespace soci
