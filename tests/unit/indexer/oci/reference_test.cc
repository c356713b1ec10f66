#include "indexer/oci/reference.h"

#include <gtest/gtest.h>

namespace soci::oci {
namespace {

const std::string kDigest = "sha256:" + std::string(64, 'a');

std::string Canonical(const std::string& text) {
  Result<Reference> reference = Reference::Parse(text);
  return reference.ok() ? reference->ToString() : std::string(Message(reference.status()));
}

TEST(Reference, ReadsNamesAsDockerDoes) {
  EXPECT_EQ(Canonical("ubuntu"), "docker.io/library/ubuntu:latest");
  EXPECT_EQ(Canonical("ubuntu:22.04"), "docker.io/library/ubuntu:22.04");
  EXPECT_EQ(Canonical("user/app"), "docker.io/user/app:latest");
  EXPECT_EQ(Canonical("index.docker.io/ubuntu"), "docker.io/library/ubuntu:latest");
  EXPECT_EQ(Canonical("localhost/app"), "localhost/app:latest");
  EXPECT_EQ(Canonical("localhost:5000/app:1"), "localhost:5000/app:1");
  EXPECT_EQ(Canonical("registry.example.com/a/b/c:T_1.x-y"), "registry.example.com/a/b/c:T_1.x-y");
  EXPECT_EQ(Canonical("[::1]:5000/app:1"), "[::1]:5000/app:1");
  EXPECT_EQ(Canonical("HOST/app"), "HOST/app:latest");
  EXPECT_EQ(Canonical("a__b/c--d/e.f/g_h"), "docker.io/a__b/c--d/e.f/g_h:latest");
}

TEST(Reference, ADigestNeedsNoTag) {
  EXPECT_EQ(Canonical("host.io/app@" + kDigest), "host.io/app@" + kDigest);
  EXPECT_EQ(Canonical("host.io/app:1@" + kDigest), "host.io/app:1@" + kDigest);
  EXPECT_EQ(Reference::Parse("host.io/app:1@" + kDigest).value().ManifestName(), kDigest);
  EXPECT_EQ(Reference::Parse("host.io/app:1").value().ManifestName(), "1");
}

TEST(Reference, CanonicalFormIsReadBackAsItself) {
  for (std::string text : {"ubuntu", "localhost:5000/app:1", "[::1]:5000/app"}) {
    Reference reference = Reference::Parse(text).value();
    EXPECT_EQ(Reference::Parse(reference.ToString()).value(), reference);
  }
}

TEST(Reference, RefusesWhatIsNoName) {
  for (std::string text : {std::string(),
                           std::string(":1"),
                           std::string("host.io/"),
                           std::string("host.io/App"),
                           std::string("a//b"),
                           std::string("/a"),
                           std::string("host.io/a/"),
                           std::string("a b"),
                           std::string("a:"),
                           std::string("a:.x"),
                           std::string("a:" + std::string(129, 'x')),
                           std::string("a@sha256:1"),
                           std::string("a@"),
                           std::string("-a/b"),
                           std::string("host.io:x/a"),
                           std::string("host..io/a"),
                           std::string("a___b"),
                           std::string("a..b"),
                           std::string("a_/b"),
                           std::string("host.io/" + std::string(260, 'a')),
                           std::string(64, 'a'),
                           std::string("a\nb"),
                           std::string("host.io/../../etc/passwd"),
                           std::string("[::1/a"),
                           std::string("[]/a")}) {
    Result<Reference> reference = Reference::Parse(text);
    EXPECT_TRUE(absl::IsInvalidArgument(reference.status())) << text;
  }
}

}  // namespace
}  // namespace soci::oci
