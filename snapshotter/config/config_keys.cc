#include "snapshotter/config/config_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <type_traits>

#include "snapshotter/config/value_text.h"

namespace soci {
namespace {

template <typename Enum, size_t N>
using EnumNames = std::array<std::pair<std::string_view, Enum>, N>;

constexpr EnumNames<TrustPolicy, 2> kTrustNames = {{{"any", TrustPolicy::kAny}, {"bound", TrustPolicy::kBound}}};
constexpr EnumNames<log::Level, 4> kLevelNames = {{{"debug", log::Level::kDebug},
                                                   {"info", log::Level::kInfo},
                                                   {"warning", log::Level::kWarning},
                                                   {"error", log::Level::kError}}};
constexpr EnumNames<RecordTrust, 3> kRecordTrustNames = {
    {{"none", RecordTrust::kNone}, {"own", RecordTrust::kOwn}, {"published", RecordTrust::kPublished}}};
constexpr const auto& NamesOf(TrustPolicy) { return kTrustNames; }
constexpr const auto& NamesOf(RecordTrust) { return kRecordTrustNames; }
constexpr const auto& NamesOf(log::Level) { return kLevelNames; }

template <typename Value>
Result<Value> ReadValue(std::string_view text) {
  if constexpr (std::is_same_v<Value, std::string>) {
    return std::string(text);
  } else if constexpr (std::is_same_v<Value, bool>) {
    return ParseFlag(text);
  } else if constexpr (std::is_same_v<Value, uint32_t>) {
    return ParseNumber(text);
  } else if constexpr (std::is_same_v<Value, uint64_t>) {
    return ParseByteSize(text);
  } else if constexpr (std::is_same_v<Value, std::chrono::milliseconds>) {
    return ParseDuration(text);
  } else {
    std::string names;
    for (const auto& [name, value] : NamesOf(Value{})) {
      if (name == text) return value;
      names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
    }
    return absl::InvalidArgumentError(fmt::format("\"{}\" is none of: {}", text, names));
  }
}

template <typename Value>
std::string ValueText(const Value& value) {
  if constexpr (std::is_same_v<Value, std::string>) {
    return value;
  } else if constexpr (std::is_same_v<Value, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_same_v<Value, uint32_t>) {
    return std::to_string(value);
  } else if constexpr (std::is_same_v<Value, uint64_t>) {
    return ByteSizeText(value);
  } else if constexpr (std::is_same_v<Value, std::chrono::milliseconds>) {
    return DurationText(value);
  } else {
    const auto& names = NamesOf(value);
    return std::string(
        std::find_if(names.begin(), names.end(), [&](const auto& row) { return row.second == value; })->first);
  }
}

template <typename Value>
constexpr ConfigKind KindOf() {
  if constexpr (std::is_same_v<Value, bool>) return ConfigKind::kFlag;
  if constexpr (std::is_same_v<Value, uint32_t>) return ConfigKind::kNumber;
  if constexpr (std::is_same_v<Value, uint64_t>) return ConfigKind::kBytes;
  if constexpr (std::is_same_v<Value, std::chrono::milliseconds>) return ConfigKind::kDuration;
  return ConfigKind::kText;
}

// The row of one member: Row<&Config::fetch, &FetchConfig::fill>(...).
template <auto Section, auto Member>
ConfigKey Row(std::string name, std::string help) {
  using Value = std::remove_cvref_t<decltype(std::declval<Config>().*Section.*Member)>;
  ConfigKey key;
  key.name = std::move(name);
  key.kind = KindOf<Value>();
  key.help = std::move(help);
  key.set = [](Config& config, std::string_view text) -> Status {
    SOCI_ASSIGN_OR_RETURN(config.*Section.*Member, ReadValue<Value>(text));
    return OkStatus();
  };
  key.get = [](const Config& config) { return ValueText<Value>(config.*Section.*Member); };
  return key;
}

std::vector<ConfigKey> MakeKeys() {
  using C = Config;
  return {
      Row<&C::paths, &PathsConfig::state>("paths.state", "Directory for snapshots, layers and their database"),
      Row<&C::paths, &PathsConfig::run>("paths.run", "Directory for mount points and sockets; emptied by a reboot"),
      Row<&C::service, &ServiceConfig::socket>(
          "service.socket", "Socket containerd speaks to; empty: soci-snapshotter.sock in paths.run"),
      Row<&C::service, &ServiceConfig::admin_socket>(
          "service.admin_socket", "Socket of status and administration; empty: admin.sock in paths.run"),
      Row<&C::service, &ServiceConfig::metrics>("service.metrics", "host:port that serves /metrics; empty: none"),
      Row<&C::log, &LogConfig::level>("log.level", "Least severe lines that are logged: debug, info, warning, error"),
      Row<&C::containerd, &ContainerdConfig::address>("containerd.address", "containerd's socket"),
      Row<&C::index, &IndexConfig::trust>(
          "index.trust", "any: every SOCI index found for the image; bound: only one that the image or the user names"),
      Row<&C::index, &IndexConfig::referrers>("index.referrers",
                                              "Ask the registry for SOCI indexes among the image's referrers; off: "
                                              "only its own annotation and indexes named by label"),
      Row<&C::index, &IndexConfig::negative_ttl>(
          "index.negative_ttl", "How long \"this image has no index\" and \"no referrers API\" are remembered"),
      Row<&C::registry, &RegistryConfig::hosts_directory>("registry.hosts_directory",
                                                          "Directory of <host>/hosts.toml files, as containerd's"),
      Row<&C::registry, &RegistryConfig::docker_config>(
          "registry.docker_config", "Credentials file; empty: config.json in $DOCKER_CONFIG or ~/.docker"),
      Row<&C::registry, &RegistryConfig::demand_connections>(
          "registry.demand_connections", "Connections to one host for reads somebody waits for, and recorded ones"),
      Row<&C::registry, &RegistryConfig::connections>(
          "registry.connections",
          "Connections to one host in all, fill included; as many of them as bring the best rate are used"),
      Row<&C::registry, &RegistryConfig::read_retry_budget>(
          "registry.read_retry_budget", "How long a read outlives a failing registry before it gets an I/O error"),
      Row<&C::fetch, &FetchConfig::fill>("fetch.fill", "Fetch the rest of every mounted layer in the background"),
      Row<&C::fetch, &FetchConfig::fill_range>("fetch.fill_range", "Bytes that fill asks for in one request"),
      Row<&C::fetch, &FetchConfig::read_ahead_max>("fetch.read_ahead_max",
                                                   "Most bytes fetched ahead of a program that reads in order"),
      Row<&C::fetch, &FetchConfig::neighbours>(
          "fetch.neighbours", "Spans fetched after one that a program had to wait for; 0: only what is asked for"),
      Row<&C::fetch, &FetchConfig::write_queue>("fetch.write_queue", "Decoded bytes that may wait for the disk"),
      Row<&C::fetch, &FetchConfig::decode_threads>("fetch.decode_threads", "Threads that decode; 0: one per core"),
      Row<&C::cache, &CacheConfig::limit>(
          "cache.limit",
          "Most bytes that layers with an index keep on the disk, lazy ones and sealed ones together; 0: no limit"),
      Row<&C::pull, &PullConfig::unpack>(
          "pull.unpack", "Download and unpack layers that have no zTOC ourselves, all of an image at once"),
      Row<&C::pull, &PullConfig::parallel_layers>("pull.parallel_layers", "Layers that are unpacked at once"),
      Row<&C::record, &RecordConfig::enabled>("record.enabled",
                                              "Note what containers read first, for replay at the image's next pull"),
      Row<&C::record, &RecordConfig::quiet_seconds>("record.quiet_seconds",
                                                    "Recording ends when a program has read nothing new for so long"),
      Row<&C::record, &RecordConfig::max_bytes>("record.max_bytes", "... or when it has read so much"),
      Row<&C::replay, &ReplayConfig::enabled>("replay.enabled",
                                              "Fetch what a record says ahead of the program that will need it"),
      Row<&C::replay, &ReplayConfig::trust>(
          "replay.trust",
          "Whose records are replayed: none, own (made by this host), published (own ones, else those "
          "found beside the image)"),
      Row<&C::fuse, &FuseConfig::threads>("fuse.threads", "Threads that answer the kernel; 0: one per core"),
  };
}

size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t changed = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, changed});
    }
  }
  return row[b.size()];
}

Status UnknownKey(std::string_view name) {
  const auto& keys = ConfigKeys();
  if (name.size() > 64) name = name.substr(0, 64);
  const auto nearest = std::min_element(keys.begin(), keys.end(), [&](const ConfigKey& a, const ConfigKey& b) {
    return EditDistance(a.name, name) < EditDistance(b.name, name);
  });
  const bool near_enough = EditDistance(nearest->name, name) <= 4;
  return absl::InvalidArgumentError(
      fmt::format("unknown key {}{}", name, near_enough ? fmt::format(" (did you mean {}?)", nearest->name) : ""));
}

}  // namespace

const std::vector<ConfigKey>& ConfigKeys() {
  static const std::vector<ConfigKey> keys = MakeKeys();
  return keys;
}

const ConfigKey* FindConfigKey(std::string_view name) {
  for (const ConfigKey& key : ConfigKeys()) {
    if (key.name == name) return &key;
  }
  return nullptr;
}

Status SetConfigKey(Config& config, std::string_view name, std::string_view text) {
  const ConfigKey* key = FindConfigKey(name);
  if (key == nullptr) return UnknownKey(name);
  return Annotate(key->set(config, text), name);
}

}  // namespace soci
