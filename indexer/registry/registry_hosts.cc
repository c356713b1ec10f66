#include "indexer/registry/registry_hosts.h"

#include <algorithm>
#include <string_view>

namespace soci {
namespace {

std::string_view WithoutPort(std::string_view host) {
  if (host.starts_with("[")) return host.substr(0, host.find(']') + 1);
  return host.substr(0, host.find(':'));
}

bool IsLoopback(std::string_view host) {
  std::string_view name = WithoutPort(host);
  bool four_numbers = name.starts_with("127.") && name.find_first_not_of("0123456789.") == std::string_view::npos;
  return name == "localhost" || name == "[::1]" || four_numbers;
}

bool IsPlainHttp(const std::string& host, const RegistryHostsOptions& options) {
  const auto& named = options.plain_http_hosts;
  if (std::find(named.begin(), named.end(), host) != named.end()) return true;
  switch (options.plain_http) {
    case RegistryHostsOptions::PlainHttp::kAlways:
      return true;
    case RegistryHostsOptions::PlainHttp::kNever:
      return false;
    case RegistryHostsOptions::PlainHttp::kLoopback:
      return IsLoopback(host) && !host.ends_with(":443");
  }
  return false;
}

}  // namespace

RegistryHost DefaultHost(const std::string& reference_host, const RegistryHostsOptions& options) {
  std::string server = reference_host == "docker.io" ? "registry-1.docker.io" : reference_host;
  RegistryHost host;
  host.base = (IsPlainHttp(reference_host, options) ? "http://" : "https://") + server + "/v2";
  host.tls = options.tls;
  host.credential_host = reference_host;
  return host;
}

}  // namespace soci
