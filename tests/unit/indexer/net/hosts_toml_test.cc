#include "indexer/net/hosts_toml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace soci {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

HostsToml Parse(const std::string& toml) {
  Result<HostsToml> hosts = ParseHostsToml(toml, "/etc/certs.d/reg");
  EXPECT_TRUE(hosts.ok()) << hosts.status();
  return hosts.ok() ? *std::move(hosts) : HostsToml{};
}

TEST(HostsToml, HostsComeInTheOrderOfTheFileAndTheServerLast) {
  HostsToml hosts = Parse(R"(server = "https://reg.example"
[host."https://zzz.example"]
  capabilities = ["pull"]
[host."http://aaa.example:5000"]
[host."mmm.example/cache"]
)");
  ASSERT_EQ(hosts.entries.size(), 4u);
  EXPECT_EQ(hosts.entries[0].base, "https://zzz.example/v2");
  EXPECT_EQ(hosts.entries[1].base, "http://aaa.example:5000/v2");
  EXPECT_EQ(hosts.entries[2].base, "https://mmm.example/cache/v2");
  EXPECT_EQ(hosts.entries[3].base, "https://reg.example/v2");
  EXPECT_TRUE(hosts.entries[0].pull);
  EXPECT_FALSE(hosts.entries[0].resolve || hosts.entries[0].push);
  EXPECT_TRUE(hosts.entries[1].pull && hosts.entries[1].resolve && hosts.entries[1].push);
}

TEST(HostsToml, WithoutServerTheDefaultOneComesLast) {
  HostsToml hosts = Parse("[host.\"https://m.example\"]\n");
  ASSERT_EQ(hosts.entries.size(), 2u);
  EXPECT_EQ(hosts.entries[1].base, "");
  EXPECT_EQ(Parse("").entries.size(), 1u);
}

TEST(HostsToml, CertificatesAreOneOrManyAndRelativeToTheFile) {
  HostsToml hosts = Parse(R"(ca = "ca.pem"
client = "both.pem"
[host."https://a"]
ca = ["one.pem", "/abs/two.pem"]
client = [["c.pem", "k.pem"], ["x.pem", ""]]
skip_verify = true
)");
  ASSERT_TRUE(hosts.entries[0].tls && hosts.entries[1].tls);
  EXPECT_THAT(hosts.entries[0].tls->ca_files, ElementsAre("/etc/certs.d/reg/one.pem", "/abs/two.pem"));
  EXPECT_EQ(hosts.entries[0].tls->client_certificate, "/etc/certs.d/reg/c.pem");
  EXPECT_EQ(hosts.entries[0].tls->client_key, "/etc/certs.d/reg/k.pem");
  EXPECT_TRUE(hosts.entries[0].tls->skip_verify);
  EXPECT_THAT(hosts.entries[1].tls->ca_files, ElementsAre("/etc/certs.d/reg/ca.pem"));
  EXPECT_EQ(hosts.entries[1].tls->client_certificate, "/etc/certs.d/reg/both.pem");
}

TEST(HostsToml, HeadersAndPathsAreTaken) {
  HostsToml hosts = Parse(R"(
[host."https://a/v2/proxy"]
override_path = true
[host."https://a/v2/proxy".header]
x-one = "1"
x-many = ["2", "3"]
[host."https://b/v2"]
)");
  EXPECT_EQ(hosts.entries[0].base, "https://a/v2/proxy");
  EXPECT_EQ(hosts.entries[0].headers.Find("X-One"), "1");
  EXPECT_THAT(hosts.entries[0].headers.FindAll("x-many"), ElementsAre("2", "3"));
  EXPECT_EQ(hosts.entries[1].base, "https://b/v2");
}

TEST(HostsToml, UnknownKeysAreNoError) { Parse("dial_timeout = \"5s\"\n[host.\"https://a\"]\nfuture = 1\n"); }

// I7: headers and addresses may hold secrets.
TEST(HostsToml, I7_NoErrorShowsAValue) {
  for (const char* toml :
       {"[header]\nA = hidden-word", "[header]\nA = \"hidden-word\nB = 1", "[header]\nA = true-hidden-word",
        "[header]\nA = \"x\" hidden-word", "[header]\nA = [\"hidden-word\", 5]",
        "[header]\nA = \"a\"\nA = \"hidden-word\"", "[header]\nA = \"hidden-word\\n\"",
        "[host.\"https://user:hidden-word@x\"]", "server = \"https://user:hidden-word@x\""}) {
    Result<HostsToml> hosts = ParseHostsToml(toml, "");
    ASSERT_FALSE(hosts.ok()) << toml;
    EXPECT_EQ(hosts.status().ToString().find("hidden"), std::string::npos) << hosts.status();
  }
}

TEST(HostsToml, NonsenseIsRefusedWithItsLine) {
  for (const char* toml : {"\nserver = 5", "\nserver = [", "\nhost = 1", "\n[host.\"ftp://x\"]",
                           "\nskip_verify = \"yes\"", "\nca = 1", "\ncapabilities = [\"fly\"]",
                           "\nclient = [[\"a\", \"b\", \"c\"]]", "\nheader = 1", "\nheader = {a = \"x\\ny\"}"}) {
    Result<HostsToml> hosts = ParseHostsToml(toml, "");
    ASSERT_FALSE(hosts.ok()) << toml;
    EXPECT_THAT(hosts.status().ToString(), HasSubstr("line 2")) << toml;
  }
}

}  // namespace
}  // namespace soci
