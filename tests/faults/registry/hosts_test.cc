// hosts.toml at work: mirrors, fail-over in the middle of a layer, edits while reading, private CAs.
#include <filesystem>
#include <fstream>

#include "indexer/oci/annotations.h"
#include "tests/faults/registry/scenario.h"
#include "tests/support/certificates.h"
#include "tests/support/temporary_directory.h"

namespace soci::test {
namespace {

using ::testing::HasSubstr;

constexpr char kRepo[] = "team/image";

class Hosts : public ::testing::Test {
 protected:
  // The settings for `host`, as containerd would find them.
  void Write(const std::string& host, const std::string& toml) {
    std::string folder = folder_ / host;
    std::filesystem::create_directories(folder);
    std::ofstream(folder + "/new") << toml;
    std::filesystem::rename(folder + "/new", folder + "/hosts.toml");
  }
  RegistryClientOptions Options() const {
    RegistryClientOptions options;
    options.hosts.directories = folder_.path();
    return options;
  }
  // The registry's own name in references; nobody listens there.
  static oci::Reference Named(const std::string& host) {
    oci::Reference reference;
    reference.host = host;
    reference.repository = kRepo;
    reference.tag = "latest";
    return reference;
  }

  TemporaryDirectory folder_;
};

TEST_F(Hosts, B12_AMirrorThatGoesDownInTheMiddleOfALayerIsReplacedByTheNext) {
  ScriptedRegistry mirror, origin;
  std::string bytes = PatternBytes(100'000);
  oci::Descriptor blob = mirror.AddBlob(kRepo, bytes);
  origin.AddBlob(kRepo, bytes);
  Write("reg.example", "server = \"" + origin.registry().url() + "\"\n[host.\"" + mirror.registry().url() +
                           "\"]\ncapabilities = [\"pull\", \"resolve\"]\n");
  Machine machine(MakeAnonymousCredentials(), Options());
  auto source = machine.client().OpenBlob(Named("reg.example"), blob);
  ASSERT_TRUE(source.ok());
  EXPECT_TRUE(ReadPart(**source, 0, 1000) == bytes.substr(0, 1000));
  EXPECT_EQ(origin.registry().requests().size(), 0u);
  EXPECT_EQ(mirror.Requests("GET", "/blobs/").front().Query("ns"), "reg.example");
  mirror.registry().Close();
  for (int i = 1; i < 50; ++i) EXPECT_TRUE(ReadPart(**source, i * 1000, 1000) == bytes.substr(i * 1000, 1000));
  EXPECT_EQ(origin.Count("GET", "/blobs/"), 49u);
  mirror.registry().Open();
  machine.clock().Advance(std::chrono::seconds(60));
  mirror.registry().ForgetRequests();
  EXPECT_TRUE(ReadPart(**source, 0, 1000) == bytes.substr(0, 1000));
  EXPECT_EQ(mirror.Count("GET", "/blobs/"), 1u) << "a mirror that is back is used again";
}

TEST_F(Hosts, B12_AMirrorThatBreaksInTheMiddleOfAReadIsReplacedInTheMiddleOfTheRead) {
  ScriptedRegistry mirror, origin;
  std::string bytes = PatternBytes(100'000);
  oci::Descriptor blob = mirror.AddBlob(kRepo, bytes);
  origin.AddBlob(kRepo, bytes);
  mirror.Change([](RegistryScript& script) {
    script.troubles.push_back({.part = "/blobs/", .effect = [](Answer& answer) {
                                 answer.end_at = std::min<uint64_t>(answer.body.size() - 1, 30'000);
                               }});
    script.troubles.push_back({.part = "/blobs/", .from = 2, .effect = [](Answer& answer) { answer.reset_at = 0; }});
  });
  Write("reg.example", "server = \"" + origin.registry().url() + "\"\n[host.\"" + mirror.registry().url() + "\"]\n");
  Machine machine(MakeAnonymousCredentials(), Options());
  auto source = machine.client().OpenBlob(Named("reg.example"), blob);
  EXPECT_TRUE(ReadPart(**source, 0, bytes.size()) == bytes);
  EXPECT_EQ(origin.Requests("GET", "/blobs/").front().Header("range"), "bytes=30000-99999");
}

TEST_F(Hosts, B12_AnEditIsFollowedWithoutRestart) {
  ScriptedRegistry first, second;
  std::string bytes = PatternBytes(10'000);
  oci::Descriptor blob = first.AddBlob(kRepo, bytes);
  second.AddBlob(kRepo, bytes);
  Write("reg.example", "server = \"" + first.registry().url() + "\"\n");
  Machine machine(MakeAnonymousCredentials(), Options());
  auto source = machine.client().OpenBlob(Named("reg.example"), blob);
  ReadPart(**source, 0, 100);
  Write("reg.example", "server = \"" + second.registry().url() + "\"  # moved\n");
  ReadPart(**source, 100, 100);
  EXPECT_EQ(first.Count("GET", "/blobs/"), 1u);
  EXPECT_EQ(second.Count("GET", "/blobs/"), 1u);
  // A slip of the pen does not stop what runs.
  Write("reg.example", "server = [\n");
  EXPECT_TRUE(ReadPart(**source, 200, 100) == bytes.substr(200, 100));
}

TEST_F(Hosts, ABrokenFileIsNamed) {
  Write("reg.example", "server = \"https://x\"\n[host.\"https://m\"]\ncapabilities = [\"fly\"]\n");
  Machine machine(MakeAnonymousCredentials(), Options());
  auto fetched = machine.client().FetchManifest(Named("reg.example"), "latest", {});
  EXPECT_TRUE(absl::IsInvalidArgument(fetched.status())) << fetched.status();
  EXPECT_THAT(fetched.status().ToString(), HasSubstr("reg.example/hosts.toml: line 3: capabilities"));
}

TEST_F(Hosts, CapabilitiesDecideWhoIsAskedForWhat) {
  ScriptedRegistry mirror, origin;
  std::string bytes = PatternBytes(10'000);
  oci::Descriptor blob = mirror.AddBlob(kRepo, bytes);
  origin.AddManifest(kRepo, "latest", oci::kMediaTypeManifest, "{}");
  Write("reg.example", "server = \"" + origin.registry().url() + "\"\n[host.\"" + mirror.registry().url() +
                           "\"]\ncapabilities = [\"pull\"]\n");
  Machine machine(MakeAnonymousCredentials(), Options());
  EXPECT_TRUE(machine.client().FetchManifest(Named("reg.example"), "latest", {}).ok());
  EXPECT_TRUE(machine.client().FetchBlob(Named("reg.example"), blob, {}).ok());
  EXPECT_TRUE(machine.client().PushBlob(Named("reg.example"), blob, bytes).ok());
  EXPECT_EQ(mirror.Count("", "/manifests/"), 0u);
  EXPECT_EQ(mirror.Count("GET", "/blobs/"), 1u);
  EXPECT_EQ(mirror.Count("POST", ""), 0u);
  EXPECT_EQ(origin.Count("POST", ""), 1u);
}

TEST_F(Hosts, WhatAMirrorDoesNotHaveComesFromTheOriginAndTheMirrorIsLeftAlone) {
  ScriptedRegistry mirror, origin;
  std::string bytes = PatternBytes(10'000);
  oci::Descriptor blob = origin.AddBlob(kRepo, bytes);
  Write("reg.example", "server = \"" + origin.registry().url() + "\"\n[host.\"" + mirror.registry().url() + "\"]\n");
  Machine machine(MakeAnonymousCredentials(), Options());
  auto source = machine.client().OpenBlob(Named("reg.example"), blob);
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(ReadPart(**source, i * 1000, 1000) == bytes.substr(i * 1000, 1000));
  EXPECT_EQ(mirror.Count("GET", "/blobs/"), 1u);
}

// B3, B12: a mirror in a network of its own, whose origin nobody here reaches. Most mirrors have no referrers API.
TEST_F(Hosts, B3_AMirrorsNoCountsWhereTheOriginCannotBeReached) {
  ScriptedRegistry mirror({.referrers = RegistryScript::Referrers::kMissing}), origin;
  origin.registry().Close();
  Write("reg.example", "server = \"" + origin.registry().url() + "\"\n[host.\"" + mirror.registry().url() + "\"]\n");
  Machine machine(MakeAnonymousCredentials(), Options());
  auto found = machine.client().FindReferrers(Named("reg.example"), oci::Digest::Of("image"), "a/b", {});
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_TRUE(found->empty());
  EXPECT_TRUE(machine.transport().waits().empty()) << "no pull waits for an origin that is not there";
}

TEST_F(Hosts, AnOriginInTroubleIsNoAbsence) {
  ScriptedRegistry mirror({.referrers = RegistryScript::Referrers::kMissing}), origin;
  origin.Change([](RegistryScript& script) {
    script.troubles.push_back({.part = "/v2/team", .effect = [](Answer& answer) { answer = Answer{.status = 503}; }});
  });
  Write("reg.example", "server = \"" + origin.registry().url() + "\"\n[host.\"" + mirror.registry().url() + "\"]\n");
  Machine machine(MakeAnonymousCredentials(), Options());
  auto found = machine.client().FindReferrers(Named("reg.example"), oci::Digest::Of("image"), "a/b", {});
  EXPECT_TRUE(absl::IsUnavailable(found.status())) << found.status();
}

TEST_F(Hosts, HeadersOfAHostGoToThatHostOnly) {
  ScriptedRegistry origin({.redirect_blobs = true});
  oci::Descriptor blob = origin.AddBlob(kRepo, PatternBytes(10'000));
  Write("reg.example", "server = \"" + origin.registry().url() + "\"\n[header]\nX-Team = \"secret-team\"\n");
  Machine machine(MakeAnonymousCredentials(), Options());
  auto source = machine.client().OpenBlob(Named("reg.example"), blob);
  ReadPart(**source, 0, 100);
  ReadPart(**source, 0, 100);
  for (const SeenRequest& request : origin.registry().requests()) EXPECT_EQ(request.Header("x-team"), "secret-team");
  for (const SeenRequest& request : origin.storage().requests()) EXPECT_EQ(request.Header("x-team"), "");
}

TEST_F(Hosts, APathOfItsOwnIsUsedAsWritten) {
  ScriptedRegistry origin;
  Write("reg.example", "server = \"" + origin.registry().url() + "/v2/proxy/x\"\noverride_path = true\n");
  Machine machine(MakeAnonymousCredentials(), Options());
  auto fetched = machine.client().FetchManifest(Named("reg.example"), "latest", {});
  EXPECT_TRUE(absl::IsNotFound(fetched.status()));
  EXPECT_EQ(origin.Count("GET", "/v2/proxy/x/team/image/manifests/latest"), 1u);
}

TEST_F(Hosts, APrivateCaIsTrustedWhereItIsNamed) {
  TemporaryDirectory pki;
  TestCertificates files = MakeCertificates(pki.path());
  ScriptedRegistry registry({.redirect_blobs = true}, {files.certificate, files.key});
  std::string bytes = PatternBytes(10'000);
  oci::Descriptor blob = registry.AddBlob(kRepo, bytes);
  std::filesystem::create_directories(folder_ / "reg.example");
  std::filesystem::copy_file(files.ca, folder_ / "reg.example/ca.pem");
  Write("reg.example", "server = \"" + registry.registry().url() + "\"\nca = \"ca.pem\"\n");
  Write("stranger.example", "server = \"" + registry.registry().url() + "\"\n");
  Write("careless.example", "server = \"" + registry.registry().url() + "\"\nskip_verify = true\n");
  Machine machine(MakeAnonymousCredentials(), Options());
  for (const char* host : {"reg.example", "careless.example"}) {
    auto read = machine.client().FetchBlob(Named(host), blob, {});
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_TRUE(*read == bytes);
  }
  auto refused = machine.client().FetchBlob(Named("stranger.example"), blob, {});
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kFailedPrecondition) << refused.status();
  EXPECT_TRUE(machine.transport().waits().empty()) << "a certificate does not get better by waiting";
}

TEST_F(Hosts, DockersOwnLayoutOfCertificatesIsRead) {
  TemporaryDirectory pki;
  TestCertificates files = MakeCertificates(pki.path());
  ScriptedRegistry registry({}, {files.certificate, files.key});
  oci::Descriptor blob = registry.AddBlob(kRepo, PatternBytes(10'000));
  std::string name = registry.host();
  name.replace(name.find(':'), 1, "_");
  std::filesystem::create_directories(folder_ / (name + "_"));
  std::filesystem::copy_file(files.ca, folder_ / (name + "_/ca.crt"));
  RegistryClientOptions options = Options();
  options.hosts.plain_http = RegistryHostsOptions::PlainHttp::kNever;
  Machine machine(MakeAnonymousCredentials(), options);
  auto read = machine.client().FetchBlob(registry.Reference(kRepo), blob, {});
  EXPECT_TRUE(read.ok()) << read.status();
}

}  // namespace
}  // namespace soci::test
