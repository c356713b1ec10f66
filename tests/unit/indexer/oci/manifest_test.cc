#include "indexer/oci/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "indexer/oci/annotations.h"

namespace soci::oci {
namespace {

using testing::HasSubstr;

Digest DigestOfLetter(char letter) { return Digest::Parse("sha256:" + std::string(64, letter)).value(); }

// The SOCI index of the format's description: its size and digest were computed with the reference tools.
Manifest ExampleSociIndex() {
  Manifest index;
  index.media_type = kMediaTypeManifest;
  index.config = {.media_type = std::string(kMediaTypeSociIndexV1), .digest = Digest::Of(kEmptyConfig), .size = 2};
  Descriptor ztoc;
  ztoc.media_type = kMediaTypeZtoc;
  ztoc.digest = DigestOfLetter('b');
  ztoc.size = 33504;
  ztoc.annotations = {{std::string(kAnnotationSpanSize), "4194304"},
                      {std::string(kAnnotationLayerMediaType), std::string(kMediaTypeLayerGzip)},
                      {std::string(kAnnotationLayerDigest), DigestOfLetter('a').ToString()}};
  index.layers = {ztoc};
  index.subject =
      Descriptor{.media_type = std::string(kMediaTypeManifest), .digest = DigestOfLetter('c'), .size = 1234};
  index.annotations = {{std::string(kAnnotationBuildTool), std::string(kBuildTool)}};
  return index;
}

TEST(Manifest, WritesTheBytesOfTheReferenceTools) {
  Manifest index = ExampleSociIndex();
  EXPECT_EQ(index.ToJson().size(), 874u);
  EXPECT_EQ(Digest::Of(index.ToJson()).Hex(), "bc2ac4228a24c1b089913b5ef7f3c8228d473ca0c2abd330b6ab3987a40d8dc8");
  index.config.media_type = kMediaTypeSociIndexV2;
  index.subject.reset();
  EXPECT_EQ(index.ToJson().size(), 710u);
  EXPECT_EQ(Digest::Of(index.ToJson()).Hex(), "4e19f0ce4f7d488c82b90af0a02b9d7fc829e725cdd728383bac1c1903c97c5b");
}

TEST(Manifest, IsReadBackAsItWasWritten) {
  Manifest index = ExampleSociIndex();
  index.artifact_type = "application/x";
  index.layers[0].urls = {"https://example.com/a?b&c"};
  index.layers[0].data = std::string("\0\xff", 2);
  index.layers[0].platform = Platform{.architecture = "arm", .os = "linux", .os_features = {"f"}, .variant = "v7"};
  Result<Manifest> again = Manifest::Parse(index.ToJson());
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->layers, index.layers);
  EXPECT_EQ(again->subject, index.subject);
  EXPECT_EQ(again->ToJson(), index.ToJson());
}

TEST(ImageIndex, WritesTheBytesOfTheReferenceTools) {
  const std::string image = "sha256:45c7f337c56f941867e245e1d5bd808552f7dba889cc2226d82463be164a866f";
  const std::string soci = "sha256:4e19f0ce4f7d488c82b90af0a02b9d7fc829e725cdd728383bac1c1903c97c5b";
  ImageIndex index;
  index.media_type = kMediaTypeImageIndex;
  Descriptor entry{.media_type = std::string(kMediaTypeManifest), .digest = Digest::Parse(image).value(), .size = 527};
  entry.platform = Platform{.architecture = "amd64", .os = "linux"};
  entry.annotations = {{std::string(kAnnotationIndexDigest), soci}};
  index.manifests.push_back(entry);
  entry.digest = Digest::Parse(soci).value();
  entry.size = 710;
  entry.annotations = {{std::string(kAnnotationManifestDigest), image}};
  entry.artifact_type = kMediaTypeSociIndexV2;
  index.manifests.push_back(entry);
  EXPECT_EQ(index.ToJson().size(), 801u);
  EXPECT_EQ(Digest::Of(index.ToJson()).Hex(), "f368a723f060886bfa630015678bc45cf83f026d3699515428ee1eb2f6c25993");
  EXPECT_EQ(ImageIndex::Parse(index.ToJson()).value().manifests, index.manifests);
}

struct BadDocument {
  const char* json;
  const char* names;
};

TEST(Manifest, ErrorsNameTheMember) {
  const std::string digest = "\"sha256:" + std::string(64, 'a') + "\"";
  const std::string config = R"("config":{"digest":)" + digest + R"(,"size":2})";
  const BadDocument cases[] = {
      {"[]", "the document is not an object"},
      {"{\"layers\":[]}", "config is missing"},
      {"{\"config\":{}}", "config.digest is missing"},
      {"{\"config\":{\"digest\":7}}", "config.digest is not a string"},
      {"{\"config\":{\"digest\":\"md5:aa\"}}", "config.digest: \"md5:aa\" is not a digest"},
      {"{CONFIG}", "layers is missing"},
      {"{CONFIG,\"layers\":{}}", "layers is not a list"},
      {"{CONFIG,\"layers\":[1]}", "layers[0] is not an object"},
      {"{CONFIG,\"layers\":[{\"digest\":DIGEST,\"size\":-1}]}", "layers[0].size is negative"},
      {"{CONFIG,\"layers\":[{\"digest\":DIGEST,\"size\":1.5}]}", "layers[0].size is not a whole number"},
      {"{CONFIG,\"layers\":[{\"digest\":DIGEST,\"size\":9223372036854775808}]}", "layers[0].size is out of range"},
      {"{CONFIG,\"layers\":[{\"digest\":DIGEST,\"size\":1,\"data\":\"?\"}]}", "layers[0].data is not base64"},
      {"{CONFIG,\"layers\":[],\"annotations\":{\"a\":1}}", "annotations has a value that is not a string (\"a\")"},
      {"{CONFIG,\"layers\":[],\"subject\":{\"digest\":DIGEST}}", "subject.size is missing"},
      {"{CONFIG,\"layers\":[],\"manifests\":[]}", "manifests has no place"},
      {"{\"schemaVersion\":1,\"fsLayers\":[]}", "schemaVersion is 1"},
      {"{CONFIG,\"layers\":[", "not JSON"},
      {"", "not JSON"},
  };
  for (const BadDocument& bad : cases) {
    std::string json = bad.json;
    for (auto [from, to] : {std::pair<std::string, std::string>{"CONFIG", config}, {"DIGEST", digest}}) {
      if (size_t at = json.find(from); at != std::string::npos) json.replace(at, from.size(), to);
    }
    Result<Manifest> manifest = Manifest::Parse(json);
    ASSERT_FALSE(manifest.ok()) << json;
    EXPECT_TRUE(absl::IsInvalidArgument(manifest.status()));
    EXPECT_THAT(std::string(Message(manifest.status())), HasSubstr(bad.names)) << json;
  }
}

TEST(Manifest, NullMembersCountAsAbsent) {
  const std::string json = R"({"config":{"digest":"sha256:)" + std::string(64, 'a') +
                           R"(","size":2,"platform":null},"layers":[],"annotations":null,"subject":null})";
  Result<Manifest> manifest = Manifest::Parse(json);
  ASSERT_TRUE(manifest.ok()) << manifest.status();
  EXPECT_EQ(manifest->subject, std::nullopt);
}

TEST(Manifest, DeepAndWideDocumentsAreRefused) {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_THAT(std::string(Message(Manifest::Parse(deep).status())), HasSubstr("nested deeper"));
  std::string wide = "[";
  while (wide.size() < 4 << 20) wide += "[],";
  EXPECT_THAT(std::string(Message(Manifest::Parse(wide + "[]]").status())), HasSubstr("values"));
  EXPECT_THAT(std::string(Message(Manifest::Parse(std::string(9 << 20, ' ')).status())), HasSubstr("larger than"));
}

TEST(ImageIndex, RefusesADocumentThatIsAManifestToOthers) {
  EXPECT_FALSE(ImageIndex::Parse(R"({"manifests":[],"layers":[]})").ok());
  EXPECT_FALSE(ImageIndex::Parse(R"({"manifests":[],"config":{}})").ok());
  EXPECT_TRUE(ImageIndex::Parse(R"({"manifests":[]})").ok());
}

TEST(ImageConfig, HoldsThePlatformAndTheDiffIds) {
  const std::string id = "sha256:" + std::string(64, '1');
  Result<ImageConfig> config = ImageConfig::Parse(
      R"({"architecture":"arm64","os":"linux","variant":"v8","rootfs":{"type":"layers","diff_ids":[")" + id +
      R"("]}})");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->platform.ToString(), "linux/arm64/v8");
  ASSERT_EQ(config->diff_ids.size(), 1u);
  EXPECT_EQ(config->diff_ids[0].ToString(), id);
  EXPECT_THAT(std::string(Message(ImageConfig::Parse("{}").status())), HasSubstr("rootfs is missing"));
}

TEST(DocumentMediaType, IsWhatTheDocumentSaysOrWhatItsMembersMakeIt) {
  EXPECT_EQ(DocumentMediaType(R"({"mediaType":"a/b","layers":[]})").value(), "a/b");
  EXPECT_EQ(DocumentMediaType(R"({"layers":[]})").value(), kMediaTypeManifest);
  EXPECT_EQ(DocumentMediaType(R"({"manifests":[]})").value(), kMediaTypeImageIndex);
  EXPECT_EQ(DocumentMediaType("{}").value(), "");
  EXPECT_FALSE(DocumentMediaType("<html>").ok());
}

}  // namespace
}  // namespace soci::oci
