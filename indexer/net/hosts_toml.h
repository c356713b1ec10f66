// Reads a hosts.toml as containerd does: which servers stand for a registry, in which order, and how each is spoken to.
//
// `server`, `[host."URL"]` tables in the order of the file, and in each of them capabilities, ca, client, skip_verify,
// header and override_path. The registry's own server comes last, always. Unknown keys are ignored, as containerd
// ignores them. Pure: no file is touched; relative paths are joined with the folder of the file.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "indexer/base/result.h"
#include "indexer/net/http_types.h"

namespace soci {

struct HostsTomlEntry {
  std::string base;  // "https://mirror.example/v2", without "/" at the end; empty: the registry's default server
  bool pull = true;
  bool resolve = true;
  bool push = true;
  std::optional<TlsOptions> tls;
  HttpHeaders headers;
};

struct HostsToml {
  std::vector<HostsTomlEntry> entries;  // at least one: the registry's own server, last
};

// kInvalidArgument with the line for what is no TOML or makes no sense. `folder`: where the file is.
Result<HostsToml> ParseHostsToml(std::string_view toml, const std::string& folder);

// The address requests are made below, for a server as people write it: https where no scheme is given, "/v2" added
// unless `override_path`.
Result<std::string> RegistryBase(std::string_view server, bool override_path);

}  // namespace soci
