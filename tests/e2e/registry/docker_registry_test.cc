// The registry client against Debian's docker-registry.
#include "tests/e2e/support/docker_registry.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "indexer/net/http_transport.h"
#include "indexer/oci/annotations.h"
#include "indexer/registry/distribution_client.h"

namespace soci {
namespace {

using test::DockerRegistry;
using test::DockerRegistryOptions;
using ::testing::HasSubstr;

std::string PatternBytes(size_t size) {
  std::string bytes(size, '\0');
  uint32_t state = 12345;
  for (char& c : bytes) c = static_cast<char>((state = state * 1664525u + 1013904223u) >> 24);
  return bytes;
}

oci::Descriptor DescriptorOf(const std::string& bytes) {
  oci::Descriptor blob;
  blob.media_type = "application/octet-stream";
  blob.digest = oci::Digest::Of(bytes);
  blob.size = static_cast<int64_t>(bytes.size());
  return blob;
}

class DockerRegistryTest : public ::testing::Test {
 protected:
  test::Sandbox sandbox_;

  // The client and what it is made of; a test may have several.
  struct Setup {
    Setup(const std::string& address, std::unique_ptr<CredentialProvider> who, RegistryClientOptions options = {})
        : credentials(std::move(who)), client(MakeRegistryClient(*transport, *credentials, std::move(options))) {
      repository.host = address;
      repository.repository = "team/image";
      repository.tag = "latest";
    }
    std::unique_ptr<HttpTransport> transport = MakeCurlTransport();
    std::unique_ptr<CredentialProvider> credentials;
    std::unique_ptr<RegistryClient> client;
    oci::Reference repository;
  };

  static std::unique_ptr<CredentialProvider> User(const std::string& name, const std::string& password) {
    Credential credential;
    credential.username = name;
    credential.secret = password;
    credential.source = "the test";
    return MakeStaticCredentials(credential);
  }
};

// An image manifest with one layer, pushed with its blobs.
Result<std::string> PushImage(RegistryClient& client, const oci::Reference& repository, const std::string& layer) {
  std::string config = R"({"architecture":"amd64","os":"linux","rootfs":{"type":"layers","diff_ids":[]}})";
  SOCI_RETURN_IF_ERROR(client.PushBlob(repository, DescriptorOf(layer), layer));
  SOCI_RETURN_IF_ERROR(client.PushBlob(repository, DescriptorOf(config), config));
  std::string manifest =
      fmt::format(R"({{"schemaVersion":2,"mediaType":"{}","config":{{"mediaType":"{}","digest":"{}","size":{}}},)"
                  R"("layers":[{{"mediaType":"{}","digest":"{}","size":{}}}]}})",
                  oci::kMediaTypeManifest, oci::kMediaTypeImageConfig, oci::Digest::Of(config).ToString(),
                  config.size(), oci::kMediaTypeLayerTar, oci::Digest::Of(layer).ToString(), layer.size());
  SOCI_RETURN_IF_ERROR(client.PushManifest(repository, repository.tag, oci::kMediaTypeManifest, manifest).status());
  return manifest;
}

TEST_F(DockerRegistryTest, WhatWasPushedComesBack) {
  DockerRegistry registry(sandbox_);
  Setup setup(registry.host(), MakeAnonymousCredentials());
  std::string layer = PatternBytes(300'000);
  Result<std::string> manifest = PushImage(*setup.client, setup.repository, layer);
  ASSERT_TRUE(manifest.ok()) << manifest.status();

  Result<FetchedDocument> by_tag = setup.client->FetchManifest(setup.repository, "latest", {});
  ASSERT_TRUE(by_tag.ok()) << by_tag.status();
  EXPECT_EQ(by_tag->body, *manifest);
  EXPECT_EQ(by_tag->media_type, oci::kMediaTypeManifest);
  Result<FetchedDocument> by_digest = setup.client->FetchManifest(setup.repository, by_tag->digest.ToString(), {});
  ASSERT_TRUE(by_digest.ok()) << by_digest.status();
  EXPECT_EQ(by_digest->digest, oci::Digest::Of(*manifest));
  Result<std::string> blob = setup.client->FetchBlob(setup.repository, DescriptorOf(layer), {});
  ASSERT_TRUE(blob.ok()) << blob.status();
  EXPECT_TRUE(*blob == layer);
}

TEST_F(DockerRegistryTest, RangesOfABlobAreRead) {
  DockerRegistry registry(sandbox_);
  Setup setup(registry.host(), MakeAnonymousCredentials());
  std::string layer = PatternBytes(3'000'000);
  ASSERT_TRUE(setup.client->PushBlob(setup.repository, DescriptorOf(layer), layer).ok());
  auto source = setup.client->OpenBlob(setup.repository, DescriptorOf(layer));
  ASSERT_TRUE(source.ok());
  EXPECT_EQ((*source)->size(), layer.size());
  for (auto [offset, length] :
       {std::pair<size_t, size_t>{0, 1}, {0, 3'000'000}, {1'234'567, 765'432}, {2'999'999, 1}}) {
    std::string out(length, '\0');
    Status status = (*source)->ReadAt(offset, std::as_writable_bytes(std::span(out)), {});
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_TRUE(out == layer.substr(offset, length)) << offset << "+" << length;
  }
  std::string out(2, '\0');
  EXPECT_EQ((*source)->ReadAt(2'999'999, std::as_writable_bytes(std::span(out)), {}).code(),
            absl::StatusCode::kOutOfRange);
}

TEST_F(DockerRegistryTest, ABlobThatExistsIsNotSentAgain) {
  DockerRegistry registry(sandbox_);
  Setup setup(registry.host(), MakeAnonymousCredentials());
  std::string layer = PatternBytes(1000);
  ASSERT_TRUE(setup.client->PushBlob(setup.repository, DescriptorOf(layer), layer).ok());
  ASSERT_TRUE(setup.client->PushBlob(setup.repository, DescriptorOf(layer), layer).ok());
  size_t posts = 0;
  for (const test::LoggedRequest& request : registry.LoggedRequests()) posts += request.method == "POST";
  EXPECT_EQ(posts, 1u);
}

TEST_F(DockerRegistryTest, ALargeBlobIsPushedInPieces) {
  DockerRegistry registry(sandbox_);
  RegistryClientOptions options;
  options.push_piece = 100'000;
  Setup setup(registry.host(), MakeAnonymousCredentials(), options);
  std::string layer = PatternBytes(1'050'000);
  Status pushed = setup.client->PushBlob(setup.repository, DescriptorOf(layer), layer);
  ASSERT_TRUE(pushed.ok()) << pushed;
  Result<std::string> blob = setup.client->FetchBlob(setup.repository, DescriptorOf(layer), {});
  ASSERT_TRUE(blob.ok()) << blob.status();
  EXPECT_TRUE(*blob == layer);
}

TEST_F(DockerRegistryTest, WhatIsNotThereIsNotFound) {
  DockerRegistry registry(sandbox_);
  Setup setup(registry.host(), MakeAnonymousCredentials());
  Result<FetchedDocument> manifest = setup.client->FetchManifest(setup.repository, "latest", {});
  EXPECT_EQ(manifest.status().code(), absl::StatusCode::kNotFound) << manifest.status();
  Result<std::string> blob = setup.client->FetchBlob(setup.repository, DescriptorOf("nothing"), {});
  EXPECT_EQ(blob.status().code(), absl::StatusCode::kNotFound) << blob.status();
  auto referrers = setup.client->FindReferrers(setup.repository, oci::Digest::Of("nothing"), "a/b", {});
  ASSERT_TRUE(referrers.ok()) << referrers.status();
  EXPECT_TRUE(referrers->empty());
}

TEST_F(DockerRegistryTest, AManifestWithSubjectIsTakenWithoutBeingListed) {
  DockerRegistry registry(sandbox_);  // 2.8 has no referrers API
  Setup setup(registry.host(), MakeAnonymousCredentials());
  Result<std::string> image = PushImage(*setup.client, setup.repository, PatternBytes(100));
  ASSERT_TRUE(image.ok()) << image.status();
  std::string empty = "{}";
  ASSERT_TRUE(setup.client->PushBlob(setup.repository, DescriptorOf(empty), empty).ok());
  std::string index = fmt::format(
      R"({{"schemaVersion":2,"mediaType":"{0}","config":{{"mediaType":"{1}","digest":"{2}","size":2}},"layers":[],)"
      R"("subject":{{"mediaType":"{0}","digest":"{3}","size":{4}}}}})",
      oci::kMediaTypeManifest, oci::kMediaTypeSociIndexV1, oci::Digest::Of(empty).ToString(),
      oci::Digest::Of(*image).ToString(), image->size());
  Result<PushedManifest> pushed =
      setup.client->PushManifest(setup.repository, oci::Digest::Of(index).ToString(), oci::kMediaTypeManifest, index);
  ASSERT_TRUE(pushed.ok()) << pushed.status();
  EXPECT_FALSE(pushed->subject_accepted);
}

TEST_F(DockerRegistryTest, BasicAuthorizationIsAnswered) {
  DockerRegistryOptions options;
  options.htpasswd = test::HtpasswdLine("AWS", "a:b:c==") + test::HtpasswdLine("me@example.com", "s3cret");
  DockerRegistry registry(sandbox_, options);
  for (auto [name, password] : {std::pair{"AWS", "a:b:c=="}, {"me@example.com", "s3cret"}}) {
    Setup setup(registry.host(), User(name, password));
    Result<std::string> manifest = PushImage(*setup.client, setup.repository, PatternBytes(1000));
    ASSERT_TRUE(manifest.ok()) << manifest.status();
    Result<FetchedDocument> fetched = setup.client->FetchManifest(setup.repository, "latest", {});
    EXPECT_TRUE(fetched.ok()) << fetched.status();
  }
}

TEST_F(DockerRegistryTest, WrongCredentialsAreNamedAsSuch) {
  DockerRegistryOptions options;
  options.htpasswd = test::HtpasswdLine("user", "right");
  DockerRegistry registry(sandbox_, options);
  Setup wrong(registry.host(), User("user", "wrong"));
  Result<FetchedDocument> refused = wrong.client->FetchManifest(wrong.repository, "latest", {});
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kUnauthenticated) << refused.status();
  EXPECT_THAT(std::string(Message(refused.status())), HasSubstr("401"));
  Setup nobody(registry.host(), MakeAnonymousCredentials());
  refused = nobody.client->FetchManifest(nobody.repository, "latest", {});
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kUnauthenticated) << refused.status();
}

TEST_F(DockerRegistryTest, ARegistryThatIsNotThereIsUnavailable) {
  std::string address;
  {
    DockerRegistry registry(sandbox_);
    address = registry.host();
  }
  RegistryClientOptions options;
  options.retry.attempts = 2;
  options.retry.first_wait = std::chrono::milliseconds(1);
  Setup setup(address, MakeAnonymousCredentials(), options);
  Result<FetchedDocument> manifest = setup.client->FetchManifest(setup.repository, "latest", {});
  EXPECT_EQ(manifest.status().code(), absl::StatusCode::kUnavailable) << manifest.status();
  EXPECT_THAT(std::string(Message(manifest.status())), HasSubstr(address));
}

}  // namespace
}  // namespace soci
