// Everything that can be configured in the daemon, with its default. A value; docs/configuration.md explains each key.
//
// Made by BuildConfig: defaults, then the file, then the flags. What it returns was checked as a whole, and no path in
// it is empty that has a derived default.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "indexer/base/log.h"
#include "indexer/base/result.h"
#include "indexer/base/units.h"

namespace soci {

// Which SOCI indexes are believed: all that are found, or only those the image (or the user) names by digest.
enum class TrustPolicy { kAny, kBound };

struct PathsConfig {
  std::string state = "/var/lib/soci-snapshotter";
  std::string run = "/run/soci-snapshotter";  // mount points and sockets: of this boot only
};

struct ServiceConfig {
  std::string socket;        // empty in the file: soci-snapshotter.sock in the run directory
  std::string admin_socket;  // empty in the file: admin.sock in the run directory
  std::string metrics = "127.0.0.1:9465";
};

struct LogConfig {
  log::Level level = log::Level::kInfo;
};

struct ContainerdConfig {
  std::string address = "/run/containerd/containerd.sock";
};

struct IndexConfig {
  TrustPolicy trust = TrustPolicy::kAny;
  bool referrers = true;  // also look for indexes that the image does not name
  std::chrono::milliseconds negative_ttl{60'000};
};

struct RegistryConfig {
  std::string hosts_directory = "/etc/containerd/certs.d";
  std::string docker_config;  // empty: $DOCKER_CONFIG, else ~/.docker/config.json
  uint32_t demand_connections = 16;
  uint32_t connections = 32;
  std::chrono::milliseconds read_retry_budget{60'000};
};

struct FetchConfig {
  bool fill = true;
  uint64_t fill_range = 8_MiB;
  uint64_t read_ahead_max = 32_MiB;
  uint32_t neighbours = 4;
  uint64_t write_queue = 40_MiB;
  uint32_t decode_threads = 0;  // 0: one per core
};

struct CacheConfig {
  uint64_t limit = 0;  // bytes; 0: none
};

struct PullConfig {
  bool unpack = true;
  uint32_t parallel_layers = 3;  // as containerd's own pull
};

struct RecordConfig {
  bool enabled = true;
  uint32_t quiet_seconds = 20;
  uint64_t max_bytes = 4_GiB;
};

// Whose records are replayed: nobody's, those this host made, or published ones too.
enum class RecordTrust { kNone, kOwn, kPublished };

struct ReplayConfig {
  bool enabled = true;
  RecordTrust trust = RecordTrust::kOwn;
};

struct FuseConfig {
  uint32_t threads = 0;  // 0: one per core
};

struct Config {
  PathsConfig paths;
  ServiceConfig service;
  LogConfig log;
  ContainerdConfig containerd;
  IndexConfig index;
  RegistryConfig registry;
  FetchConfig fetch;
  CacheConfig cache;
  PullConfig pull;
  RecordConfig record;
  ReplayConfig replay;
  FuseConfig fuse;
};

inline constexpr char kDefaultConfigFile[] = "/etc/soci-snapshotter/config.toml";

// A flag as it was given: {"fetch.fill_range", "16MiB"}.
using ConfigOverrides = std::vector<std::pair<std::string, std::string>>;

// `toml_file`: no value = the default file, which may be missing; a named one must exist. kNotFound or kInvalidArgument
// with one line that names the file, the line and the key.
Result<Config> BuildConfig(const std::optional<std::string>& toml_file, const ConfigOverrides& overrides);

// The same from text; `name` stands for the file in errors.
Result<Config> ParseConfig(const std::string& toml, const std::string& name, const ConfigOverrides& overrides = {});

}  // namespace soci
