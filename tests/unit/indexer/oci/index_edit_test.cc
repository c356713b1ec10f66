#include "indexer/oci/index_edit.h"

#include <gtest/gtest.h>

#include "indexer/oci/annotations.h"
#include "indexer/oci/manifest.h"

namespace soci::oci {
namespace {

Descriptor Entry(const std::string& name) {
  return {.media_type = std::string(kMediaTypeManifest), .digest = Digest::Of(name), .size = 3};
}

TEST(WithEntry, KeepsWhatItDoesNotKnow) {
  const std::string before =
      R"({"zebra": [1.5, {"x": null}], "schemaVersion":2,"manifests":[{"mediaType":"a/b","digest":")" +
      Digest::Of("other").ToString() + R"(","size":7,"extra":true}],"alpha":"x"})";
  const std::string after = WithEntry(before, Entry("new")).value();
  EXPECT_EQ(after, R"({"zebra":[1.5,{"x":null}],"schemaVersion":2,"manifests":[{"mediaType":"a/b","digest":")" +
                       Digest::Of("other").ToString() + R"(","size":7,"extra":true},{"mediaType":")" +
                       std::string(kMediaTypeManifest) + R"(","digest":")" + Digest::Of("new").ToString() +
                       R"(","size":3}],"alpha":"x"})");
}

TEST(WithEntry, AnEntryOfTheSameDigestKeepsItsNames) {
  Descriptor named = Entry("one");
  named.annotations = {{std::string(kAnnotationRefName), "tag"}};
  Descriptor again = Entry("one");
  again.artifact_type = kMediaTypeSociIndexV1;
  again.annotations = {{"a", "b"}};
  const std::string before = ImageIndex{.manifests = {named, Entry("two")}}.ToJson();
  const ImageIndex after = ImageIndex::Parse(WithEntry(before, again).value()).value();
  ASSERT_EQ(after.manifests.size(), 2u);
  EXPECT_EQ(after.manifests[0].annotations, (Annotations{{"a", "b"}, {std::string(kAnnotationRefName), "tag"}}));
  EXPECT_EQ(after.manifests[0].artifact_type, kMediaTypeSociIndexV1);
}

TEST(WithEntry, NothingToChangeMeansNotAByteChanges) {
  const std::string before = "{ \"manifests\" : [" + [] {
    std::string list = ImageIndex{.manifests = {Entry("one")}}.ToJson();
    const size_t start = list.find('[') + 1;
    return list.substr(start, list.rfind(']') - start);
  }() + " ] }\n";
  EXPECT_EQ(WithEntry(before, Entry("one")).value(), before);
}

TEST(WithEntry, RefusesWhatIsNoImageIndex) {
  for (const char* text : {"", "[]", "{}", R"({"manifests":{}})", R"({"manifests":[{"digest":1}]})"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(WithEntry(text, Entry("x")).status())) << text;
  }
}

}  // namespace
}  // namespace soci::oci
