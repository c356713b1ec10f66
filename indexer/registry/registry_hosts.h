// Says which servers stand for a registry, in which order to ask them, and how each is spoken to.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "indexer/base/result.h"
#include "indexer/net/http_types.h"

namespace soci {

// What a server may be asked for.
enum class HostCapability : unsigned { kPull = 1, kResolve = 2, kPush = 4 };

struct RegistryHost {
  std::string base;           // "https://host:port/v2", without "/" at the end
  unsigned capabilities = 7;  // HostCapability bits
  std::shared_ptr<const TlsOptions> tls;
  HttpHeaders headers;          // sent to this server only
  std::string credential_host;  // whose credentials are used
  std::string name_space;       // sent as "ns" to a mirror: which registry it stands for; empty for the registry itself

  bool Can(HostCapability capability) const { return (capabilities & static_cast<unsigned>(capability)) != 0; }
};

struct RegistryHostsOptions {
  enum class PlainHttp {
    kLoopback,  // http for localhost, 127.0.0.0/8 and [::1] (unless the port is 443), https for the rest: as docker
                // does
    kAlways,
    kNever,
  };
  PlainHttp plain_http = PlainHttp::kLoopback;
  // These hosts (with port) are spoken to by http in any case.
  std::vector<std::string> plain_http_hosts;
  std::shared_ptr<const TlsOptions> tls;  // for every server that has no setting of its own
  // Directories of <host>/hosts.toml as containerd has them, parted by colons; empty: none.
  std::string directories;
};

class HostsDirectory;

// All servers for a registry, in the order to ask them; the registry's own is the last. kInvalidArgument: a malformed
// hosts.toml. `directory` may be null.
Result<std::vector<RegistryHost>> FindHosts(const std::string& reference_host, const RegistryHostsOptions& options,
                                            HostsDirectory* directory);

// The server of a registry where nothing is configured. docker.io is registry-1.docker.io.
RegistryHost DefaultHost(const std::string& reference_host, const RegistryHostsOptions& options);

}  // namespace soci
