#include "indexer/registry/registry_hosts.h"

#include <gtest/gtest.h>

namespace soci {
namespace {

TEST(RegistryHosts, LoopbackIsPlainHttpTheRestIsNot) {
  for (const char* host : {"localhost", "localhost:5000", "127.0.0.1:5000", "127.8.8.8", "[::1]:5000"}) {
    EXPECT_TRUE(DefaultHost(host, {}).base.starts_with("http://")) << host;
  }
  for (const char* host : {"reg.example", "127.example", "localhost:443", "localhost.example:5000", "10.0.0.1:5000"}) {
    EXPECT_TRUE(DefaultHost(host, {}).base.starts_with("https://")) << host;
  }
}

TEST(RegistryHosts, SettingsOverrideTheGuess) {
  RegistryHostsOptions options;
  options.plain_http = RegistryHostsOptions::PlainHttp::kNever;
  EXPECT_EQ(DefaultHost("localhost:5000", options).base, "https://localhost:5000/v2");
  options.plain_http_hosts = {"10.0.0.1:5000"};
  EXPECT_EQ(DefaultHost("10.0.0.1:5000", options).base, "http://10.0.0.1:5000/v2");
  options.plain_http = RegistryHostsOptions::PlainHttp::kAlways;
  EXPECT_EQ(DefaultHost("reg.example", options).base, "http://reg.example/v2");
}

TEST(RegistryHosts, DockerHubHasAServerOfAnotherName) {
  RegistryHost host = DefaultHost("docker.io", {});
  EXPECT_EQ(host.base, "https://registry-1.docker.io/v2");
  EXPECT_EQ(host.credential_host, "docker.io");
}

}  // namespace
}  // namespace soci
