#include "indexer/registry/registry_hosts.h"

#include <algorithm>
#include <string_view>

#include "indexer/registry/hosts_directory.h"

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

unsigned Capabilities(const HostsTomlEntry& entry) {
  unsigned bits = 0;
  if (entry.pull) bits |= static_cast<unsigned>(HostCapability::kPull);
  if (entry.resolve) bits |= static_cast<unsigned>(HostCapability::kResolve);
  if (entry.push) bits |= static_cast<unsigned>(HostCapability::kPush);
  return bits;
}

// "https://mirror.example:5000/v2" -> "mirror.example:5000".
std::string ServerOf(const std::string& base) {
  std::string_view rest = std::string_view(base).substr(base.find("://") + 3);
  return std::string(rest.substr(0, rest.find('/')));
}

RegistryHost FromEntry(const HostsTomlEntry& entry, const RegistryHost& own) {
  RegistryHost host = own;
  host.capabilities = Capabilities(entry);
  host.headers = entry.headers;
  if (entry.tls) host.tls = std::make_shared<const TlsOptions>(*entry.tls);
  if (entry.base.empty()) return host;
  host.base = entry.base;
  // Another server has credentials of its own and is told which registry it stands for.
  if (ServerOf(host.base) != ServerOf(own.base)) {
    host.credential_host = ServerOf(host.base);
    host.name_space = own.credential_host;
  }
  return host;
}

}  // namespace

Result<std::vector<RegistryHost>> FindHosts(const std::string& reference_host, const RegistryHostsOptions& options,
                                            HostsDirectory* directory) {
  RegistryHost own = DefaultHost(reference_host, options);
  std::shared_ptr<const HostsToml> configured;
  if (directory != nullptr) {
    SOCI_ASSIGN_OR_RETURN(configured, directory->Find(reference_host));
  }
  std::vector<RegistryHost> hosts;
  if (configured == nullptr) {
    hosts.push_back(std::move(own));
  } else {
    for (const HostsTomlEntry& entry : configured->entries) hosts.push_back(FromEntry(entry, own));
  }
  return hosts;
}

RegistryHost DefaultHost(const std::string& reference_host, const RegistryHostsOptions& options) {
  std::string server = reference_host == "docker.io" ? "registry-1.docker.io" : reference_host;
  RegistryHost host;
  host.base = (IsPlainHttp(reference_host, options) ? "http://" : "https://") + server + "/v2";
  host.tls = options.tls;
  host.credential_host = reference_host;
  return host;
}

}  // namespace soci
