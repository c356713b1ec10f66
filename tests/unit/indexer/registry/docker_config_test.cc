#include "indexer/registry/docker_config.h"

#include <gtest/gtest.h>

#include "indexer/oci/base64.h"
#include "indexer/registry/credential_helper.h"

namespace soci {
namespace {

std::string Auth(const std::string& text) { return oci::EncodeBase64(text); }

TEST(DockerConfig, APasswordMayHoldColons) {
  auto config = DockerConfig::Parse(R"({"auths":{"r.example":{"auth":")" + Auth("AWS:a:b:c==") + R"("}}})");
  ASSERT_TRUE(config.ok());
  const Credential* found = config->FindAuth("r.example");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->username, "AWS");
  EXPECT_EQ(found->secret, "a:b:c==");
}

TEST(DockerConfig, AnEmptyUserWithAnIdentityTokenCounts) {
  auto config = DockerConfig::Parse(R"({"auths":{"r.example":{"auth":"","identitytoken":"tok"}}})");
  ASSERT_TRUE(config.ok());
  ASSERT_NE(config->FindAuth("r.example"), nullptr);
  EXPECT_EQ(config->FindAuth("r.example")->identity_token, "tok");
}

TEST(DockerConfig, HostsAreFoundUnderEverySpelling) {
  auto config = DockerConfig::Parse(R"({"auths":{
      "https://index.docker.io/v1/":{"username":"hub","password":"p"},
      "https://r.example/v1/":{"username":"u@x","password":"p"},
      "r.example:5000":{"username":"v","password":"p"}, "empty.example":{}}})");
  ASSERT_TRUE(config.ok());
  EXPECT_EQ(config->FindAuth("docker.io")->username, "hub");
  EXPECT_EQ(config->FindAuth("r.example")->username, "u@x");
  EXPECT_EQ(config->FindAuth("r.example:5000")->username, "v");
  EXPECT_EQ(config->FindAuth("empty.example"), nullptr);
  EXPECT_EQ(config->FindAuth("other.example"), nullptr);
}

TEST(DockerConfig, AHostsOwnHelperComesBeforeTheGeneralOne) {
  auto config = DockerConfig::Parse(R"({"credsStore":"desktop","credHelpers":{"ecr.example":"ecr-login"}})");
  ASSERT_TRUE(config.ok());
  EXPECT_EQ(config->HelperFor("ecr.example"), "ecr-login");
  EXPECT_EQ(config->HelperFor("other.example"), "desktop");
}

TEST(DockerConfig, NonsenseIsRefusedOrLeftOut) {
  for (const char* text : {"", "[]", "nonsense", "{\"auths\":"}) EXPECT_FALSE(DockerConfig::Parse(text).ok()) << text;
  auto config = DockerConfig::Parse(
      R"({"auths":{"a":5,"b":{"auth":"@@@"},"c":{"auth":"bm9jb2xvbg=="}},"credHelpers":[1],"credsStore":7})");
  ASSERT_TRUE(config.ok());
  EXPECT_TRUE(config->auths.empty());
  EXPECT_EQ(config->HelperFor("a"), "");
}

TEST(CredentialHelper, AnswersAreRead) {
  auto plain = ParseHelperAnswer(R"({"ServerURL":"r","Username":"AWS","Secret":"s"})");
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(plain->username, "AWS");
  EXPECT_EQ(plain->secret, "s");
  auto token = ParseHelperAnswer(R"({"Username":"<token>","Secret":"refresh"})");
  ASSERT_TRUE(token.ok());
  EXPECT_EQ(token->identity_token, "refresh");
  EXPECT_TRUE(token->secret.empty());
  for (const char* text : {"", "{}", "[]", R"({"Username":"u"})"}) EXPECT_FALSE(ParseHelperAnswer(text).ok()) << text;
}

}  // namespace
}  // namespace soci
