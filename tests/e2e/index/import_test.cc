// Archives that were indexed, and containerd's importer: the index is about the manifest that it makes, and an archive
// with an index in it is still an image to it.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "indexer/base/file_io.h"
#include "tests/e2e/support/end_to_end.h"
#include "tests/support/tar_builder.h"

namespace soci {
namespace {

using test::CommandResult;
using test::TarBuilder;
using testing::HasSubstr;

class Import : public test::EndToEnd {
 protected:
  std::string Subject(const std::string& target) {
    const CommandResult info = test::RunCommand({SOCI_BINARY_DIR "/bin/soci-index", "info", "--json", target});
    EXPECT_TRUE(info.ok()) << info.err;
    return nlohmann::json::parse(info.out)[0]["subject"];
  }
};

// Field report A16: from `docker save` to the index, without a runtime; the runtime is here to say that it is right.
TEST_F(Import, TheIndexOfADockerArchiveIsAboutTheImageThatContainerdImports) {
  const std::string layer = test::BusyboxTar().File("etc/greeting", "hello\n").Finish();
  const std::string config =
      R"({"architecture":"amd64","os":"linux","config":{},"rootfs":{"type":"layers","diff_ids":[")" +
      oci::Digest::Of(layer).ToString() + R"("]}})";
  const std::string saved = sandbox_ / "saved.tar", indexed = sandbox_ / "indexed.tar";
  const std::string bytes =
      TarBuilder()
          .File("0/layer.tar", layer)
          .File("c.json", config)
          .File("manifest.json", R"([{"Config":"c.json","RepoTags":["app:1"],"Layers":["0/layer.tar"]}])")
          .Finish();
  ASSERT_TRUE(WriteFileAtomic(saved, bytes).ok());
  const CommandResult create =
      test::RunCommand({SOCI_BINARY_DIR "/bin/soci-index", "create", "--min-layer-size", "0", "--platform",
                        "linux/amd64", "docker-archive:" + saved, "-o", indexed});
  ASSERT_TRUE(create.ok()) << create.err;
  const std::string subject = Subject("docker-archive:" + indexed);
  for (const std::string& archive : {saved, indexed}) {
    SCOPED_TRACE(archive);
    ASSERT_EQ(test::Failure(containerd_.Ctr({"images", "import", "--no-unpack", archive})), "");
    const CommandResult list = containerd_.Ctr({"images", "ls"});
    EXPECT_THAT(list.out, HasSubstr("docker.io/library/app:1"));
    EXPECT_THAT(list.out, HasSubstr(subject));
    containerd_.RemoveAllImages();
  }
}

}  // namespace
}  // namespace soci
