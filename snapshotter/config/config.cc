#include "snapshotter/config/config.h"

#include <fmt/format.h>

#include "indexer/base/file_io.h"
#include "snapshotter/config/config_keys.h"
#include "snapshotter/config/toml_reader.h"

namespace soci {
namespace {

constexpr uint64_t kLargestFile = 1_MiB;

struct Bounds {
  const char* key;
  uint64_t value, least, most;
};

Status CheckBounds(const Config& config) {
  const Bounds all[] = {
      {"registry.demand_connections", config.registry.demand_connections, 1, 512},
      {"registry.connections", config.registry.connections, config.registry.demand_connections, 1024},
      {"fetch.decode_threads", config.fetch.decode_threads, 0, 1024},
      {"fetch.neighbours", config.fetch.neighbours, 0, 64},
      {"pull.parallel_layers", config.pull.parallel_layers, 1, 64},
      {"fuse.threads", config.fuse.threads, 0, 1024},
  };
  for (const Bounds& bounds : all) {
    if (bounds.value >= bounds.least && bounds.value <= bounds.most) continue;
    return absl::InvalidArgumentError(
        fmt::format("{}: {} is not between {} and {}", bounds.key, bounds.value, bounds.least, bounds.most));
  }
  const Bounds sizes[] = {
      {"fetch.fill_range", config.fetch.fill_range, 64_KiB, 1_GiB},
      {"fetch.read_ahead_max", config.fetch.read_ahead_max, 0, 4_GiB},
      {"fetch.write_queue", config.fetch.write_queue, 1_MiB, 64_GiB},
  };
  for (const Bounds& bounds : sizes) {
    if (bounds.value >= bounds.least && bounds.value <= bounds.most) continue;
    const ConfigKey* key = FindConfigKey(bounds.key);
    return absl::InvalidArgumentError(fmt::format("{}: {} is not between {} KiB and {} KiB", bounds.key,
                                                  key->get(config), bounds.least >> 10, bounds.most >> 10));
  }
  return OkStatus();
}

// Absolute, and nothing that mount options or the kernel would read in another way.
Status CheckPath(const char* key, const std::string& path) {
  if (path.empty() || path[0] != '/')
    return absl::InvalidArgumentError(fmt::format("{}: \"{}\" is not absolute", key, path));
  for (const char c : path) {
    if (static_cast<unsigned char>(c) < 0x20 || c == ':' || c == ',' || c == '\\') {
      return absl::InvalidArgumentError(
          fmt::format("{}: \"{}\" holds a colon, comma, backslash or control character", key, path));
    }
  }
  return OkStatus();
}

Result<Config> Finish(Config config, const ConfigOverrides& overrides) {
  for (const auto& [name, text] : overrides) SOCI_RETURN_IF_ERROR(Annotate(SetConfigKey(config, name, text), "flag"));
  for (std::string* path : {&config.paths.state, &config.paths.run}) {
    while (path->size() > 1 && path->back() == '/') path->pop_back();
  }
  if (config.service.socket.empty()) config.service.socket = config.paths.run + "/soci-snapshotter.sock";
  if (config.service.admin_socket.empty()) config.service.admin_socket = config.paths.run + "/admin.sock";
  SOCI_RETURN_IF_ERROR(CheckPath("paths.state", config.paths.state));
  SOCI_RETURN_IF_ERROR(CheckPath("paths.run", config.paths.run));
  SOCI_RETURN_IF_ERROR(CheckPath("service.socket", config.service.socket));
  SOCI_RETURN_IF_ERROR(CheckPath("service.admin_socket", config.service.admin_socket));
  SOCI_RETURN_IF_ERROR(CheckPath("containerd.address", config.containerd.address));
  if (config.service.socket == config.service.admin_socket) {
    return absl::InvalidArgumentError("service.admin_socket: the same socket as service.socket");
  }
  SOCI_RETURN_IF_ERROR(CheckBounds(config));
  return config;
}

}  // namespace

Result<Config> ParseConfig(const std::string& toml, const std::string& name, const ConfigOverrides& overrides) {
  Config config;
  SOCI_RETURN_IF_ERROR(ReadToml(toml, name, config));
  return Finish(std::move(config), overrides);
}

Result<Config> BuildConfig(const std::optional<std::string>& toml_file, const ConfigOverrides& overrides) {
  Result<std::string> text = ReadFile(toml_file.value_or(kDefaultConfigFile), kLargestFile);
  if (!text.ok() && !toml_file && text.status().code() == absl::StatusCode::kNotFound) return Finish({}, overrides);
  if (!text.ok()) return Annotate(text.status(), "configuration file");
  return ParseConfig(*text, toml_file.value_or(kDefaultConfigFile), overrides);
}

}  // namespace soci
