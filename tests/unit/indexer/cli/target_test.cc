#include "indexer/cli/target.h"

#include <gtest/gtest.h>

#include "indexer/base/file_io.h"
#include "tests/support/temporary_directory.h"

namespace soci::cli {
namespace {

const std::string kDigest = "sha256:" + std::string(64, 'a');

TEST(ParseTarget, ReadsRegistryReferences) {
  const Target target = ParseTarget("localhost:5000/app:1@" + kDigest).value();
  EXPECT_EQ(target.kind, Target::Kind::kRegistry);
  EXPECT_EQ(target.reference.ToString(), "localhost:5000/app:1@" + kDigest);
  EXPECT_EQ(target.digest->ToString(), kDigest);
}

TEST(ParseTarget, ReadsLayoutsWithAndWithoutTagAndDigest) {
  test::TemporaryDirectory directory;
  const std::string dir = directory / "a:b";
  ASSERT_TRUE(MakeDirectories(dir).ok());
  EXPECT_EQ(ParseTarget("oci:" + dir).value().path, dir);
  EXPECT_EQ(ParseTarget("oci:" + dir).value().tag, "");
  EXPECT_EQ(ParseTarget("oci:" + dir + ":1.2").value().tag, "1.2");
  const Target named = ParseTarget("oci:" + dir + ":host.example:5000/app:1@" + kDigest).value();
  EXPECT_EQ(named.path, dir);
  EXPECT_EQ(named.tag, "host.example:5000/app:1");
  EXPECT_EQ(named.digest->ToString(), kDigest);
}

TEST(ParseTarget, ADirectoryThatIsNotThereIsStillToldFromATag) {
  EXPECT_EQ(ParseTarget("oci:/no/where:1").value().path, "/no/where");
  EXPECT_EQ(ParseTarget("oci:/no:1/where").value().path, "/no:1/where");
  EXPECT_EQ(ParseTarget("oci:x").value().path, "x");
}

TEST(ParseTarget, ReadsArchives) {
  test::TemporaryDirectory directory;
  const std::string file = directory / "image:1.tar";
  ASSERT_TRUE(WriteFileAtomic(file, "").ok());
  const Target target = ParseTarget("oci-archive:" + file + ":2").value();
  EXPECT_EQ(target.kind, Target::Kind::kOciArchive);
  EXPECT_EQ(target.path, file);
  EXPECT_EQ(target.tag, "2");
  EXPECT_EQ(ParseTarget("docker-archive:" + file + ":app:1").value().kind, Target::Kind::kDockerArchive);
  EXPECT_EQ(ParseTarget("docker-archive:" + file + ":app:1").value().tag, "app:1");
}

TEST(ParseTarget, RefusesWhatNamesNothing) {
  for (const char* text : {"", "oci:", "oci::1", "a b", "oci:x@sha256:12", "oci-archive:", "docker-archive:"})
    EXPECT_FALSE(ParseTarget(text).ok()) << text;
}

}  // namespace
}  // namespace soci::cli
