// An index as a whole against its image: lies in a zTOC, blobs that are missing, an index about something else.
#include "indexer/index/verify_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "indexer/base/file_io.h"
#include "indexer/content/oci_layout.h"
#include "indexer/content/read_blob.h"
#include "indexer/index/file_extractor.h"
#include "indexer/index/image_indexer.h"
#include "indexer/index/index_builder.h"
#include "indexer/index/layout_home.h"
#include "indexer/index/list_indexes.h"
#include "tests/support/temporary_directory.h"
#include "tests/ztoc/ztoc_value.h"

namespace soci::golden {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Silent : public LayerProgress {
  void OnStart(const oci::Descriptor&) override {}
  void OnBytes(const oci::Descriptor&, uint64_t) override {}
  void OnEnd(const oci::Descriptor&, LayerOutcome, const std::string&) override {}
};

class VerifyIndexTest : public testing::Test {
 protected:
  VerifyIndexTest() {
    std::filesystem::copy(SOCI_BINARY_DIR "/golden/images/i06-prefetch", directory / "image",
                          std::filesystem::copy_options::recursive);
    layout = OciLayout::Open(directory / "image").value();
    home = MakeLayoutHome(OciLayout::Open(directory / "image").value(), {});
    image = SelectPlatforms(*home, {}, {}).value().images.at(0);
    ImageIndexer indexer(*home, {.span_size = 65536, .min_layer_size = 0}, silent);
    index = ReadIndex(*home, indexer.Index(image, {}).value().index->digest, FoundBy::kNamedDigest, {}).value();
  }

  IndexVerdict Verify() { return VerifyIndex(*home, image, index, 2, silent, {}).value(); }

  // Replaces the zTOC of the first layer by one that was changed.
  void Forge(const std::function<void(test::Ztoc&)>& change) {
    oci::Descriptor& descriptor = index.manifest.layers[0];
    test::Ztoc ztoc = test::DecodeZtoc(ReadBlob(*layout, descriptor, 1 << 30).value()).value();
    change(ztoc);
    const std::string bytes = EncodeZtoc(ztoc).value();
    descriptor.digest = oci::Digest::Of(bytes);
    descriptor.size = static_cast<int64_t>(bytes.size());
    ASSERT_TRUE(layout->Put(descriptor, bytes).ok());
  }

  test::TemporaryDirectory directory;
  Silent silent;
  std::unique_ptr<OciLayout> layout;
  std::unique_ptr<ImageHome> home;
  PlatformImage image;
  SociIndex index;
};

TEST_F(VerifyIndexTest, WhatCreateMakesIsRight) {
  const IndexVerdict verdict = Verify();
  EXPECT_TRUE(verdict.ok());
  EXPECT_EQ(verdict.layers.size(), 4u);
  EXPECT_GT(verdict.layers[0].spans, 1u);
  EXPECT_GT(verdict.layers[0].entries, 1u);
}

TEST_F(VerifyIndexTest, ALieInOneZtocIsFoundInThatLayerOnly) {
  Forge([](test::Ztoc& ztoc) { ztoc.entries[1].mode = 04755; });
  const IndexVerdict verdict = Verify();
  EXPECT_TRUE(verdict.faults.empty());
  EXPECT_THAT(verdict.layers[0].faults.lines(), ElementsAre(HasSubstr("mode: 4755 in the index")));
  EXPECT_TRUE(verdict.layers[1].faults.empty());
}

TEST_F(VerifyIndexTest, AZtocThatIsMissingOrCutIsAFault) {
  const std::string path = directory / "image/blobs/sha256/" + index.manifest.layers[0].digest.Hex();
  const std::string bytes = ReadFile(path).value();
  ASSERT_TRUE(WriteFileAtomic(path, bytes.substr(0, bytes.size() / 2)).ok());
  EXPECT_THAT(Verify().layers[0].faults.lines(), ElementsAre(HasSubstr("are promised")));
  std::filesystem::remove(path);
  EXPECT_THAT(Verify().layers[0].faults.lines(), ElementsAre(HasSubstr("No such file")));
}

TEST_F(VerifyIndexTest, ALayerThatIsMissingIsAFault) {
  std::filesystem::remove(directory / "image/blobs/sha256/" + image.manifest.layers[1].digest.Hex());
  EXPECT_THAT(Verify().layers[1].faults.lines(), ElementsAre(HasSubstr("No such file")));
}

TEST_F(VerifyIndexTest, AnIndexAboutAnotherImageIsAFault) {
  index.manifest.subject->digest = oci::Digest::Of("other");
  index.manifest.layers[0].annotations[std::string(oci::kAnnotationLayerDigest)] = oci::Digest::Of("x").ToString();
  const IndexVerdict verdict = Verify();
  EXPECT_THAT(verdict.faults, ElementsAre(HasSubstr("subject: "), HasSubstr("is not in the image")));
  EXPECT_EQ(verdict.layers.size(), 3u);
  EXPECT_FALSE(verdict.ok());
}

class ExtractFileTest : public VerifyIndexTest {
 protected:
  Result<std::string> Extract(size_t layer, const std::string& path) {
    SOCI_ASSIGN_OR_RETURN(std::string bytes, ReadBlob(*layout, index.manifest.layers[layer], 1 << 30));
    SOCI_ASSIGN_OR_RETURN(const test::Ztoc ztoc, test::DecodeZtoc(bytes));
    SOCI_ASSIGN_OR_RETURN(const tar::Entry file, FindFile(ztoc, path));
    SOCI_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, layout->Open(image.manifest.layers[layer].digest));
    std::string content;
    SOCI_RETURN_IF_ERROR(ExtractFile(*source, ztoc, file,
                                     [&](ByteSpan piece) {
                                       content += AsText(piece);
                                       return OkStatus();
                                     },
                                     {}));
    return content;
  }
};

TEST_F(ExtractFileTest, FilesOverSeveralSpansComeWhole) {
  const test::Ztoc ztoc = test::DecodeZtoc(ReadBlob(*layout, index.manifest.layers[0], 1 << 30).value()).value();
  int files = 0;
  for (const tar::Entry& entry : ztoc.entries) {
    if (entry.type != tar::EntryType::kRegular) continue;
    Result<std::string> content = Extract(0, entry.name);
    ASSERT_TRUE(content.ok()) << content.status();
    EXPECT_EQ(static_cast<int64_t>(content->size()), entry.size);
    ++files;
  }
  EXPECT_GT(files, 1);
}

TEST_F(ExtractFileTest, WhatIsNoFileIsSaidSo) {
  EXPECT_TRUE(absl::IsNotFound(Extract(0, "no/such/file").status()));
  EXPECT_TRUE(absl::IsFailedPrecondition(Extract(0, "f").status()));
}

TEST_F(ExtractFileTest, AFalseEntryIsDataLossBeforeAnyContentIsDelivered) {
  Forge([](test::Ztoc& ztoc) { ztoc.entries[1].uid = 12345; });
  const Status status = Extract(0, "f/a").status();
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  EXPECT_THAT(std::string(Message(status)), HasSubstr("uid: 12345 in the index"));
}

TEST_F(ExtractFileTest, ADamagedSpanIsDataLoss) {
  const std::string path = directory / "image/blobs/sha256/" + image.manifest.layers[0].digest.Hex();
  std::string bytes = ReadFile(path).value();
  bytes[bytes.size() / 4] = static_cast<char>(bytes[bytes.size() / 4] ^ 1);
  ASSERT_TRUE(WriteFileAtomic(path, bytes).ok());
  EXPECT_TRUE(absl::IsDataLoss(Extract(0, "f/a").status()));
}

TEST(FindFile, TheLastEntryCountsAndHardLinksLeadToEarlierOnes) {
  test::Ztoc ztoc;
  auto add = [&](const std::string& name, tar::EntryType type, const std::string& link = "") {
    tar::Entry entry;
    entry.name = name;
    entry.type = type;
    entry.link_name = link;
    ztoc.entries.push_back(entry);
  };
  add("./a", tar::EntryType::kRegular);
  add("/b", tar::EntryType::kHardLink, "./a");
  add("a", tar::EntryType::kRegular);
  add("c", tar::EntryType::kHardLink, "later");
  add("later", tar::EntryType::kRegular);
  add("self", tar::EntryType::kHardLink, "self");
  EXPECT_EQ(FindFile(ztoc, "/a").value(), ztoc.entries[2]);
  EXPECT_EQ(FindFile(ztoc, "b").value(), ztoc.entries[0]);
  EXPECT_TRUE(absl::IsNotFound(FindFile(ztoc, "c").status()));
  EXPECT_TRUE(absl::IsNotFound(FindFile(ztoc, "self").status()));
}

}  // namespace
}  // namespace soci::golden
