// The table of all keys: what the file may contain, what flags there are, and what docs/configuration.md has to list.
//
// A key is written [section] key = value in TOML and --section.key=value on the command line. Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "snapshotter/config/config.h"

namespace soci {

enum class ConfigKind { kText, kFlag, kNumber, kBytes, kDuration };

struct ConfigKey {
  std::string name;  // "fetch.fill_range"
  ConfigKind kind;
  std::string help;  // one line, without a full stop
  Status (*set)(Config& config, std::string_view text);
  std::string (*get)(const Config& config);
};

const std::vector<ConfigKey>& ConfigKeys();
const ConfigKey* FindConfigKey(std::string_view name);

// kInvalidArgument naming the key, and the nearest one that exists if it is unknown.
Status SetConfigKey(Config& config, std::string_view name, std::string_view text);

}  // namespace soci
