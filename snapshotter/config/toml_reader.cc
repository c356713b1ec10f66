#include "snapshotter/config/toml_reader.h"

// Debian builds the library; its headers have to be told.
#define TOML_HEADER_ONLY 0
#define TOML_SHARED_LIB 1
#include <fmt/format.h>
#include <toml++/toml.h>

#include "snapshotter/config/config_keys.h"

namespace soci {
namespace {

Status AtLine(const std::string& name, const toml::source_region& where, std::string_view what) {
  return absl::InvalidArgumentError(fmt::format("{}:{}: {}", name, where.begin.line, what));
}

// A scalar as its setter reads it; no value if TOML's type is not the key's.
std::optional<std::string> ScalarText(const toml::node& node, ConfigKind kind) {
  switch (kind) {
    case ConfigKind::kFlag:
      if (const auto* flag = node.as_boolean()) return flag->get() ? "true" : "false";
      return std::nullopt;
    case ConfigKind::kNumber:
      if (const auto* number = node.as_integer()) return std::to_string(number->get());
      return std::nullopt;
    case ConfigKind::kBytes:
    case ConfigKind::kDuration:
      if (const auto* number = node.as_integer()) return std::to_string(number->get());
      [[fallthrough]];
    case ConfigKind::kText:
      if (const auto* text = node.as_string()) return text->get();
      return std::nullopt;
  }
  return std::nullopt;
}

std::string_view KindName(ConfigKind kind) {
  switch (kind) {
    case ConfigKind::kText:
      return "a string";
    case ConfigKind::kFlag:
      return "true or false";
    case ConfigKind::kNumber:
      return "a whole number";
    case ConfigKind::kBytes:
      return "a size such as \"8MiB\"";
    case ConfigKind::kDuration:
      return "a duration such as \"30s\"";
  }
  return "";
}

Status ReadSection(const toml::table& table, const std::string& section, const std::string& name, Config& config) {
  for (const auto& [key, node] : table) {
    const std::string full = section + "." + std::string(key.str());
    const ConfigKey* known = FindConfigKey(full);
    if (known == nullptr) return AtLine(name, key.source(), Message(SetConfigKey(config, full, "")));
    const std::optional<std::string> text = ScalarText(node, known->kind);
    if (!text) return AtLine(name, node.source(), fmt::format("{}: must be {}", full, KindName(known->kind)));
    if (Status status = known->set(config, *text); !status.ok()) {
      return AtLine(name, node.source(), fmt::format("{}: {}", full, Message(status)));
    }
  }
  return OkStatus();
}

bool IsSection(std::string_view section) {
  for (const ConfigKey& key : ConfigKeys()) {
    if (key.name.size() > section.size() && key.name.starts_with(section) && key.name[section.size()] == '.') {
      return true;
    }
  }
  return false;
}

Status ReadDocument(const toml::table& document, const std::string& name, Config& config) {
  for (const auto& [key, node] : document) {
    const std::string section(key.str());
    if (!IsSection(section)) {
      const char* what = node.is_table() ? "section" : "key";
      return AtLine(name, key.source(), fmt::format("unknown {} {}", what, section));
    }
    const toml::table* table = node.as_table();
    if (table == nullptr) return AtLine(name, node.source(), fmt::format("{}: must be a section", section));
    SOCI_RETURN_IF_ERROR(ReadSection(*table, section, name, config));
  }
  return OkStatus();
}

}  // namespace

Status ReadToml(const std::string& toml, const std::string& name, Config& config) {
  try {
    return ReadDocument(toml::parse(std::string_view(toml), std::string_view(name)), name, config);
  } catch (const toml::parse_error& error) {
    return AtLine(name, error.source(), error.description());
  } catch (const std::exception& error) {
    return absl::InvalidArgumentError(fmt::format("{}: {}", name, error.what()));
  }
}

}  // namespace soci
