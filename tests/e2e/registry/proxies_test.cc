// The registry client through what stands between machines and registries: TLS with a private CA, docker-registry as a
// pull-through cache, nginx with a slice cache.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "indexer/base/thread_pool.h"
#include "indexer/net/http_transport.h"
#include "indexer/oci/annotations.h"
#include "indexer/registry/distribution_client.h"
#include "tests/e2e/support/docker_registry.h"
#include "tests/e2e/support/http.h"
#include "tests/e2e/support/image.h"
#include "tests/support/certificates.h"
#include "tests/support/free_port.h"

namespace soci {
namespace {

using test::DockerRegistry;

constexpr char kRepo[] = "team/image";

std::string PatternBytes(size_t size) {
  std::string bytes(size, '\0');
  std::mt19937 random(42);
  for (char& c : bytes) c = static_cast<char>(random());
  return bytes;
}

oci::Descriptor DescriptorOf(const std::string& bytes) {
  oci::Descriptor blob;
  blob.media_type = "application/octet-stream";
  blob.digest = oci::Digest::Of(bytes);
  blob.size = static_cast<int64_t>(bytes.size());
  return blob;
}

class Proxies : public ::testing::Test {
 protected:
  // A client that finds "reg.example" as hosts.toml says.
  RegistryClient& Client(const std::string& hosts_toml) {
    std::filesystem::create_directories(sandbox_ / "hosts/reg.example");
    std::ofstream(sandbox_ / "hosts/reg.example/hosts.toml") << hosts_toml;
    RegistryClientOptions options;
    options.hosts.directories = sandbox_ / "hosts";
    options.spool_directory = sandbox_.root();
    options.spool_threads = &spool_;
    client_ = MakeRegistryClient(*transport_, *credentials_, options);
    return *client_;
  }
  static oci::Reference Image() {
    oci::Reference image;
    image.host = "reg.example";
    image.repository = kRepo;
    image.tag = "v1";
    return image;
  }
  static void ExpectRightBytesEverywhere(RegistryClient& client, const std::string& bytes, int reads) {
    auto source = client.OpenBlob(Image(), DescriptorOf(bytes));
    ASSERT_TRUE(source.ok()) << source.status();
    std::mt19937 random(7);
    for (int i = 0; i < reads; ++i) {
      uint64_t offset = random() % bytes.size();
      std::string out(std::min<uint64_t>(1 + random() % 100'000, bytes.size() - offset), '\0');
      Status status = (*source)->ReadAt(offset, std::as_writable_bytes(std::span(out)), {});
      ASSERT_TRUE(status.ok()) << status;
      ASSERT_TRUE(out == bytes.substr(offset, out.size())) << offset;
    }
  }

  test::Sandbox sandbox_;
  ThreadPool spool_{"spool", 1};
  std::unique_ptr<HttpTransport> transport_ = MakeCurlTransport();
  std::unique_ptr<CredentialProvider> credentials_ = MakeAnonymousCredentials();
  std::unique_ptr<RegistryClient> client_;
};

TEST_F(Proxies, TlsWithAPrivateCa) {
  test::TestCertificates files = test::MakeCertificates(sandbox_.root());
  DockerRegistry registry(sandbox_, {.certificate = files.certificate, .key = files.key});
  std::string server = "server = \"" + registry.url() + "\"\n";
  std::string bytes = PatternBytes(500'000);
  RegistryClient& client = Client(server + "ca = \"" + files.ca + "\"\n");
  Status pushed = client.PushBlob(Image(), DescriptorOf(bytes), bytes);
  ASSERT_TRUE(pushed.ok()) << pushed;
  ExpectRightBytesEverywhere(client, bytes, 10);
  Status refused = Client(server).FetchBlob(Image(), DescriptorOf(bytes), {}).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition) << refused;
}

TEST_F(Proxies, APullThroughCacheInFrontOfTheRegistry) {
  DockerRegistry upstream(sandbox_);
  std::string bytes = PatternBytes(6'000'000);
  test::PushBlob(upstream, kRepo, bytes);
  test::PushBlob(upstream, kRepo, "{}");
  std::string manifest =
      fmt::format(R"({{"schemaVersion":2,"mediaType":"{}","config":{{"mediaType":"{}","digest":"{}","size":2}},)"
                  R"("layers":[{{"mediaType":"{}","digest":"{}","size":{}}}]}})",
                  oci::kMediaTypeManifest, oci::kMediaTypeImageConfig, oci::Digest::Of("{}").ToString(),
                  oci::kMediaTypeLayerTar, oci::Digest::Of(bytes).ToString(), bytes.size());
  test::PushManifest(upstream, kRepo, "v1", std::string(oci::kMediaTypeManifest), manifest);
  DockerRegistry cache(sandbox_, {.folder = "cache", .proxy_remote = upstream.url()});
  RegistryClient& client = Client("server = \"" + upstream.url() + "\"\n[host.\"" + cache.url() +
                                  "\"]\ncapabilities = [\"pull\", \"resolve\"]\n");

  Result<FetchedDocument> fetched = client.FetchManifest(Image(), "v1", {});
  ASSERT_TRUE(fetched.ok()) << fetched.status();
  EXPECT_EQ(fetched->body, manifest);
  ExpectRightBytesEverywhere(client, bytes, 20);
  EXPECT_FALSE(cache.BlobGets(oci::Digest::Of(bytes).ToString()).empty());
  Result<std::vector<oci::Descriptor>> referrers =
      client.FindReferrers(Image(), fetched->digest, oci::kMediaTypeSociIndexV1, {});
  ASSERT_TRUE(referrers.ok()) << referrers.status();
  EXPECT_TRUE(referrers->empty());

  // The cache goes down; the origin takes over.
  cache.Stop();
  ExpectRightBytesEverywhere(client, bytes, 5);
}

// nginx with a slice cache, in the foreground, with everything it writes in the sandbox.
class SliceCache {
 public:
  SliceCache(const test::Sandbox& sandbox, const std::string& upstream) : folder_(sandbox / "nginx") {
    std::filesystem::create_directories(folder_ + "/cache");
    // The port may be taken between our look and nginx's; then another.
    for (int attempt = 0; attempt < 5 && !Start(upstream); ++attempt) {
    }
  }
  std::string url() const { return fmt::format("http://127.0.0.1:{}", port_); }

 private:
  bool Start(const std::string& upstream) {
    port_ = test::FreePort();
    std::ofstream(folder_ + "/nginx.conf") << fmt::format(R"(daemon off; master_process off; pid {0}/pid;
error_log {0}/error.log;
events {{ worker_connections 256; }}
http {{
  access_log off;
  client_body_temp_path {0}/body; proxy_temp_path {0}/proxy; fastcgi_temp_path {0}/f; uwsgi_temp_path {0}/u; scgi_temp_path {0}/s;
  proxy_cache_path {0}/cache keys_zone=blobs:1m max_size=64m;
  server {{
    listen 127.0.0.1:{1};
    location /v2/ {{ proxy_pass {2}; proxy_set_header Host $http_host; }}
    location ~ /blobs/sha256: {{
      slice 256k;
      proxy_cache blobs; proxy_cache_key $uri$slice_range; proxy_cache_valid 200 206 1h;
      proxy_set_header Range $slice_range; proxy_http_version 1.1;
      proxy_pass {2};
    }}
  }}
}}
)",
                                                          folder_, port_, upstream);
    process_ = std::make_unique<test::Process>(
        std::vector<std::string>{"nginx", "-p", folder_, "-c", folder_ + "/nginx.conf"}, folder_ + "/log");
    return test::WaitUntil([&] {
             if (!process_->Running()) return true;
             try {
               return test::HttpRequest("GET", url() + "/v2/").status != 0;
             } catch (const std::runtime_error&) {
               return false;
             }
           }) &&
           process_->Running();
  }

  const std::string folder_;
  uint16_t port_ = 0;
  std::unique_ptr<test::Process> process_;
};

TEST_F(Proxies, NginxWithASliceCacheInFrontOfTheRegistry) {
  bool installed = false;
  for (const char* path : {"/usr/sbin/nginx", "/usr/bin/nginx", "/usr/local/sbin/nginx"}) {
    installed = installed || std::filesystem::exists(path);
  }
  if (!installed) GTEST_SKIP() << "nginx is not installed";
  DockerRegistry upstream(sandbox_);
  std::string bytes = PatternBytes(4'000'000);
  test::PushBlob(upstream, kRepo, bytes);
  SliceCache cache(sandbox_, upstream.url());
  RegistryClient& client = Client("server = \"" + cache.url() + "\"\n");
  ExpectRightBytesEverywhere(client, bytes, 30);
  size_t gets = upstream.BlobGets(oci::Digest::Of(bytes).ToString()).size();
  ExpectRightBytesEverywhere(client, bytes, 30);
  EXPECT_EQ(upstream.BlobGets(oci::Digest::Of(bytes).ToString()).size(), gets) << "the same slices come from the cache";
}

}  // namespace
}  // namespace soci
