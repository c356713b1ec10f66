// Redirects to a storage with signed addresses that expire: field reports B13 and B14.
#include <chrono>
#include <thread>

#include "indexer/net/retry_policy.h"
#include "tests/faults/registry/scenario.h"

namespace soci::test {
namespace {

constexpr char kRepo[] = "team/image";

TEST(Redirects, B13_TheSecondHostGetsARefererAndNoAuthorization) {
  ScriptedRegistry registry({.auth = RegistryScript::Auth::kBearer,
                             .users = {{"user", "secret-password"}},
                             .redirect_blobs = true,
                             .storage_wants_referer = true});
  std::string bytes = PatternBytes(50'000);
  oci::Descriptor blob = registry.AddBlob(kRepo, bytes);
  Machine machine(MakeStaticCredentials(UserAndPassword("user", "secret-password")));
  auto source = machine.Open(registry, kRepo, blob);
  EXPECT_TRUE(ReadPart(*source, 100, 200) == bytes.substr(100, 200));
  EXPECT_TRUE(ReadPart(*source, 40'000, 200) == bytes.substr(40'000, 200));
  EXPECT_EQ(registry.storage().requests().size(), 2u);
  for (const SeenRequest& request : registry.storage().requests()) {
    EXPECT_EQ(request.Header("authorization"), "");
    EXPECT_EQ(request.status, 206);
  }
  EXPECT_EQ(registry.Count("GET", "/blobs/sha256"), 1u) << "the second read goes to the storage at once";
}

TEST(Redirects, B13_A401OfTheStorageLeadsToANewRedirectNotToALogin) {
  ScriptedRegistry registry({.auth = RegistryScript::Auth::kBearer,
                             .users = {{"user", "secret-password"}},
                             .redirect_blobs = true,
                             .storage_refusal = 401});
  std::string bytes = PatternBytes(50'000);
  oci::Descriptor blob = registry.AddBlob(kRepo, bytes);
  Machine machine(MakeStaticCredentials(UserAndPassword("user", "secret-password")));
  auto source = machine.Open(registry, kRepo, blob);
  EXPECT_TRUE(ReadPart(*source, 100, 200) == bytes.substr(100, 200));
  registry.ExpireUrls();
  EXPECT_TRUE(ReadPart(*source, 300, 200) == bytes.substr(300, 200));
  EXPECT_EQ(registry.Count("GET", "/token"), 1u);
}

TEST(Redirects, B14_AnExpiredUrlIsReplacedWithoutAnErrorForTheReader) {
  for (int refusal : {400, 401, 403}) {
    ScriptedRegistry registry({.redirect_blobs = true, .url_uses = 3, .storage_refusal = refusal});
    std::string bytes = PatternBytes(500'000);
    oci::Descriptor blob = registry.AddBlob(kRepo, bytes);
    Machine machine;
    ExpectRightBytesEverywhere(*machine.Open(registry, kRepo, blob), bytes, 50);
  }
}

TEST(Redirects, B14_AUrlIsReplacedBeforeItExpires) {
  ScriptedRegistry registry({.redirect_blobs = true, .url_lifetime_s = 900});
  std::string bytes = PatternBytes(10'000);
  oci::Descriptor blob = registry.AddBlob(kRepo, bytes);
  Machine machine;
  auto source = machine.Open(registry, kRepo, blob);
  ReadPart(*source, 0, 100);
  machine.clock().Advance(std::chrono::seconds(600));
  ReadPart(*source, 100, 100);
  EXPECT_EQ(registry.Count("GET", "/blobs/"), 1u);
  registry.ExpireUrls();
  machine.clock().Advance(std::chrono::seconds(200));  // 100 s before its end
  EXPECT_TRUE(ReadPart(*source, 200, 100) == bytes.substr(200, 100));
  EXPECT_EQ(registry.Count("GET", "/blobs/"), 2u);
  for (const SeenRequest& request : registry.storage().requests()) EXPECT_EQ(request.status, 206);
}

TEST(Redirects, B14_ManyReadersOfAnExpiredUrlAskTheRegistryOnce) {
  ScriptedRegistry registry({.redirect_blobs = true});
  std::string bytes = PatternBytes(64'000);
  oci::Descriptor blob = registry.AddBlob(kRepo, bytes);
  Machine machine;
  auto source = machine.Open(registry, kRepo, blob);
  std::vector<std::thread> readers;
  for (int i = 0; i < 32; ++i) {
    readers.emplace_back([&, i] { EXPECT_TRUE(ReadPart(*source, i * 2000, 2000) == bytes.substr(i * 2000, 2000)); });
  }
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(registry.Count("GET", "/blobs/"), 1u);
  EXPECT_EQ(registry.Count("GET", "/store/"), 32u);
}

// B14. The two clocks are hours apart, as on a machine whose clock was never set: what counts is the server's.
TEST(Redirects, B14_AUrlIsReplacedBeforeItExpiresAlsoWhenTheClocksAreApart) {
  for (std::chrono::hours apart : {std::chrono::hours(-5), std::chrono::hours(7)}) {
    for (bool amz : {true, false}) {
      ScriptedRegistry registry({.redirect_blobs = true});
      std::string bytes = PatternBytes(10'000);
      oci::Descriptor blob = registry.AddBlob(kRepo, bytes);
      Machine machine;
      const auto server_now = machine.clock().WallNow() + apart;
      registry.Change([&](RegistryScript& script) {
        script.signs_with = amz ? RegistryScript::Signature::kAmz : RegistryScript::Signature::kExpires;
        script.wall_clock = [server_now] { return server_now; };
        script.url_lifetime_s = 600;
      });
      auto source = machine.Open(registry, kRepo, blob);
      EXPECT_TRUE(ReadPart(*source, 0, 100) == bytes.substr(0, 100));
      machine.clock().Advance(std::chrono::seconds(300));
      EXPECT_TRUE(ReadPart(*source, 100, 100) == bytes.substr(100, 100));
      EXPECT_EQ(registry.Count("GET", "/blobs/"), 1u) << "an address that is good is used";
      registry.ExpireUrls();
      machine.clock().Advance(std::chrono::seconds(250));  // 50 s before its end
      EXPECT_TRUE(ReadPart(*source, 200, 100) == bytes.substr(200, 100));
      EXPECT_EQ(registry.Count("GET", "/blobs/"), 2u);
      for (const SeenRequest& request : registry.storage().requests()) EXPECT_EQ(request.status, 206);
    }
  }
}

}  // namespace
}  // namespace soci::test
