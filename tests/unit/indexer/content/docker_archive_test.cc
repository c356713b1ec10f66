#include "indexer/content/docker_archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "indexer/base/file_io.h"
#include "indexer/base/units.h"
#include "indexer/content/read_blob.h"
#include "indexer/oci/annotations.h"
#include "tests/support/tar_builder.h"
#include "tests/support/temporary_directory.h"

namespace soci {
namespace {

using test::TarBuilder;
using testing::HasSubstr;

std::string ConfigOf(const std::vector<std::string>& layers) {
  std::string ids;
  for (const std::string& layer : layers)
    ids += (ids.empty() ? "\"" : ",\"") + oci::Digest::Of(layer).ToString() + "\"";
  return R"({"architecture":"amd64","os":"linux","rootfs":{"type":"layers","diff_ids":[)" + ids + "]}}";
}

class DockerArchiveTest : public testing::Test {
 protected:
  Result<std::unique_ptr<OciArchive>> Open(const std::string& bytes, const std::string& output = {}) {
    EXPECT_TRUE(WriteFileAtomic(path, bytes).ok());
    return OpenDockerArchive(path, output);
  }
  oci::Manifest ManifestOf(OciArchive& archive, const std::string& name) {
    return oci::Manifest::Parse(ReadBlob(archive, archive.Resolve(name).value().value()).value()).value();
  }

  test::TemporaryDirectory directory;
  std::string path = directory / "saved.tar";
  const std::string layer = TarBuilder().File("a", "content").Finish();
  const std::string empty = TarBuilder().Finish();
  // A layer that occurs twice is a link the second time.
  const std::string saved = TarBuilder()
                                .File("1/layer.tar", layer)
                                .File("2/layer.tar", empty)
                                .Symlink("3/layer.tar", "../1/layer.tar")
                                .File("c.json", ConfigOf({layer, empty, layer}))
                                .File("manifest.json", R"([{"Config":"c.json","RepoTags":["app:1","app:2"],)"
                                                       R"("Layers":["1/layer.tar","2/layer.tar","3/layer.tar"]}])")
                                .File("repositories", "{}")
                                .Finish();
};

TEST_F(DockerArchiveTest, HoldsTheManifestThatContainerdMakesOfIt) {
  auto archive = Open(saved).value();
  const oci::Descriptor image = archive->Resolve("app:1").value().value();
  EXPECT_EQ(image.digest, archive->Resolve("docker.io/library/app:2").value().value().digest);
  const std::string config = ConfigOf({layer, empty, layer});
  auto part = [](const std::string& type, const std::string& bytes) {
    return R"({"mediaType":")" + type + R"(","digest":")" + oci::Digest::Of(bytes).ToString() + R"(","size":)" +
           std::to_string(bytes.size()) + "}";
  };
  const std::string tar = "application/vnd.docker.image.rootfs.diff.tar";
  EXPECT_EQ(ReadBlob(*archive, image).value(),
            R"({"schemaVersion":2,"mediaType":"application/vnd.docker.distribution.manifest.v2+json","config":)" +
                part("application/vnd.docker.container.image.v1+json", config) + R"(,"layers":[)" + part(tar, layer) +
                "," + part(tar, empty) + "," + part(tar, layer) + "]}");
  for (const oci::Descriptor& blob : ManifestOf(*archive, "app:1").layers) EXPECT_TRUE(ReadBlob(*archive, blob).ok());
}

TEST_F(DockerArchiveTest, IsWrittenAsALayoutThatDockerStillLoads) {
  auto archive = Open(saved).value();
  ASSERT_TRUE(archive->Commit().ok());
  EXPECT_EQ(ReadFile(path).value(), saved) << "nothing was put, nothing is written";
  const oci::Descriptor extra{.media_type = "x/y", .digest = oci::Digest::Of("extra"), .size = 5};
  ASSERT_TRUE(archive->Put(extra, "extra").ok());
  ASSERT_TRUE(archive->Commit().ok());
  auto members = TarMembers::Scan(OpenFileSource(path).value()).value();
  std::vector<std::string> names;
  for (const TarMember& member : members.all()) names.push_back(member.name);
  const std::string layer_name = OciArchive::BlobName(oci::Digest::Of(layer));
  const std::string empty_name = OciArchive::BlobName(oci::Digest::Of(empty));
  const std::string config_name = OciArchive::BlobName(oci::Digest::Of(ConfigOf({layer, empty, layer})));
  EXPECT_EQ(names.size(), 9u);  // and the manifest and what was put
  for (const std::string& name : {layer_name, empty_name, config_name, std::string("repositories"),
                                  std::string("manifest.json"), std::string("oci-layout"), std::string("index.json")}) {
    EXPECT_THAT(names, testing::Contains(name));
  }
  EXPECT_EQ(members.Read("manifest.json", 1_MiB).value(),
            R"([{"Config":")" + config_name + R"(","RepoTags":["app:1","app:2"],"Layers":[")" + layer_name + R"(",")" +
                empty_name + R"(",")" + layer_name + R"("]}])");
  auto again = OciArchive::Open(path).value();
  EXPECT_EQ(ReadBlob(*again, extra).value(), "extra");
  EXPECT_EQ(ManifestOf(*again, "app:2").layers.size(), 3u);
  const std::string committed = ReadFile(path).value();
  ASSERT_TRUE(OpenDockerArchive(path).value()->Commit().ok());
  EXPECT_EQ(ReadFile(path).value(), committed);
}

TEST_F(DockerArchiveTest, CompressedLayersAreNamedByTheirDigest) {
  const std::string gzip = test::Gzip(layer);
  for (const std::string& name : {std::string("layer.tar.gz"), oci::Digest::Of(gzip).Hex() + ".tar.gz"}) {
    auto archive = Open(TarBuilder()
                            .File(name, gzip)
                            .File("c.json", ConfigOf({layer}))
                            .File("manifest.json", R"([{"Config":"c.json","Layers":[")" + name + R"("]}])")
                            .Finish())
                       .value();
    const oci::Manifest manifest = ManifestOf(*archive, "");
    ASSERT_EQ(manifest.layers.size(), 1u);
    EXPECT_EQ(manifest.layers[0].digest, oci::Digest::Of(gzip));
    EXPECT_EQ(manifest.layers[0].media_type, oci::kMediaTypeDockerLayerGzip);
  }
}

TEST_F(DockerArchiveTest, WhatContradictsItselfIsRefused) {
  auto why = [&](const std::string& manifest, const std::string& config) {
    auto archive = Open(TarBuilder().File("l", layer).File("c", config).File("manifest.json", manifest).Finish());
    return archive.ok() ? "accepted" : std::string(Message(archive.status()));
  };
  const std::string config = ConfigOf({layer});
  EXPECT_EQ(why(R"([{"Config":"c","Layers":["l"]}])", config), "accepted");
  EXPECT_THAT(why(R"([{"Config":"d","Layers":["l"]}])", config), HasSubstr("names d, which is not there"));
  EXPECT_THAT(why(R"([{"Config":"c","Layers":["m"]}])", config), HasSubstr("names m, which is not there"));
  EXPECT_THAT(why(R"([{"Config":"c","Layers":["l","l"]}])", config), HasSubstr("2 layers, the config 1"));
  EXPECT_THAT(why(R"([{"Config":"c","Layers":["l"],"RepoTags":["A b"]}])", config), HasSubstr("A b"));
  EXPECT_THAT(why(R"({"Config":"c"})", config), HasSubstr("no list of images"));
  EXPECT_THAT(why("[]", config), HasSubstr("no list of images"));
  EXPECT_THAT(why("[{}]", config), HasSubstr("manifest.json: "));
  EXPECT_THAT(why(R"([{"Config":"c","Layers":["l"]}])", "x"), HasSubstr("saved.tar"));
}

TEST_F(DockerArchiveTest, LinksInCirclesLeadNowhere) {
  auto archive = Open(TarBuilder()
                          .Symlink("a", "b")
                          .Symlink("b", "a")
                          .File("c", ConfigOf({layer}))
                          .File("manifest.json", R"([{"Config":"c","Layers":["a"]}])")
                          .Finish());
  EXPECT_THAT(std::string(Message(archive.status())), HasSubstr("names a, which is not there"));
}

TEST_F(DockerArchiveTest, GoesToAnotherFileWhereOneIsNamed) {
  const std::string output = directory / "out.tar";
  auto archive = Open(saved, output).value();
  ASSERT_TRUE(archive->Commit().ok());
  EXPECT_EQ(ReadFile(path).value(), saved);
  EXPECT_TRUE(OciArchive::Open(output).ok());
}

}  // namespace
}  // namespace soci
