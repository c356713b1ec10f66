#include "indexer/net/hosts_toml.h"

// Debian builds the library; its headers have to be told.
#define TOML_HEADER_ONLY 0
#define TOML_SHARED_LIB 1
#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <utility>

#include "indexer/net/url.h"

namespace soci {
namespace {

Status AtLine(const toml::source_region& where, std::string_view what) {
  return absl::InvalidArgumentError(fmt::format("line {}: {}", where.begin.line, what));
}

std::string Join(const std::string& folder, const std::string& path) {
  return path.starts_with("/") || folder.empty() ? path : folder + "/" + path;
}

// One string or a list of them.
Result<std::vector<std::string>> Strings(const toml::node& node, std::string_view key) {
  std::vector<std::string> values;
  if (const auto* one = node.as_string()) {
    values.push_back(one->get());
  } else if (const toml::array* list = node.as_array()) {
    for (const toml::node& item : *list) {
      const auto* text = item.as_string();
      if (text == nullptr) return AtLine(item.source(), fmt::format("{}: not a string", key));
      values.push_back(text->get());
    }
  } else {
    return AtLine(node.source(), fmt::format("{}: neither a string nor a list of strings", key));
  }
  return values;
}

Result<bool> Flag(const toml::node& node, std::string_view key) {
  if (const auto* flag = node.as_boolean()) return flag->get();
  return AtLine(node.source(), fmt::format("{}: neither true nor false", key));
}

Status ReadCapabilities(const toml::node& node, HostsTomlEntry& entry) {
  SOCI_ASSIGN_OR_RETURN(std::vector<std::string> names, Strings(node, "capabilities"));
  entry.pull = entry.resolve = entry.push = false;
  for (const std::string& name : names) {
    if (name == "pull") {
      entry.pull = true;
    } else if (name == "resolve") {
      entry.resolve = true;
    } else if (name == "push") {
      entry.push = true;
    } else {
      return AtLine(node.source(), fmt::format("capabilities: \"{}\" is none of pull, resolve, push", name));
    }
  }
  return OkStatus();
}

// "cert.pem" | ["a.pem", "b.pem"] | [["cert.pem", "key.pem"], ...]. libcurl takes one pair: the first.
Status ReadClient(const toml::node& node, const std::string& folder, TlsOptions& tls) {
  const toml::array* list = node.as_array();
  if (list != nullptr && !list->empty() && list->front().is_array()) {
    SOCI_ASSIGN_OR_RETURN(std::vector<std::string> pair, Strings(list->front(), "client"));
    if (pair.empty() || pair.size() > 2) return AtLine(node.source(), "client: a pair has a certificate and a key");
    tls.client_certificate = Join(folder, pair[0]);
    tls.client_key = pair.size() == 2 && !pair[1].empty() ? Join(folder, pair[1]) : "";
    return OkStatus();
  }
  SOCI_ASSIGN_OR_RETURN(std::vector<std::string> files, Strings(node, "client"));
  if (!files.empty()) tls.client_certificate = Join(folder, files.front());
  return OkStatus();
}

Status ReadHeaders(const toml::node& node, HttpHeaders& headers) {
  const toml::table* table = node.as_table();
  if (table == nullptr) return AtLine(node.source(), "header: not a table");
  for (const auto& [name, values] : *table) {
    SOCI_ASSIGN_OR_RETURN(std::vector<std::string> list, Strings(values, "header"));
    for (std::string& value : list) {
      bool plain = std::all_of(value.begin(), value.end(), [](unsigned char c) { return c >= ' ' && c != 0x7f; });
      if (!plain) return AtLine(values.source(), "header: a value with control characters");
      headers.Add(std::string(name.str()), std::move(value));
    }
  }
  return OkStatus();
}

// What a [host."..."] table and the top of the file have in common.
Result<HostsTomlEntry> ReadEntry(const toml::table& table, std::string_view server, const toml::source_region& where,
                                 const std::string& folder) {
  HostsTomlEntry entry;
  TlsOptions tls;
  bool has_tls = false, override_path = false;
  if (const toml::node* node = table.get("override_path")) {
    SOCI_ASSIGN_OR_RETURN(override_path, Flag(*node, "override_path"));
  }
  if (const toml::node* node = table.get("capabilities")) SOCI_RETURN_IF_ERROR(ReadCapabilities(*node, entry));
  if (const toml::node* node = table.get("ca")) {
    SOCI_ASSIGN_OR_RETURN(std::vector<std::string> files, Strings(*node, "ca"));
    for (const std::string& file : files) tls.ca_files.push_back(Join(folder, file));
    has_tls = true;
  }
  if (const toml::node* node = table.get("client")) {
    SOCI_RETURN_IF_ERROR(ReadClient(*node, folder, tls));
    has_tls = true;
  }
  if (const toml::node* node = table.get("skip_verify")) {
    SOCI_ASSIGN_OR_RETURN(tls.skip_verify, Flag(*node, "skip_verify"));
    has_tls = true;
  }
  if (const toml::node* node = table.get("header")) SOCI_RETURN_IF_ERROR(ReadHeaders(*node, entry.headers));
  if (has_tls) entry.tls = std::move(tls);
  if (server.empty()) return entry;
  Result<std::string> base = RegistryBase(server, override_path);
  if (!base.ok()) return AtLine(where, Message(base.status()));
  entry.base = *std::move(base);
  return entry;
}

// toml++ sorts a table's keys; containerd asks the hosts in the order of the file.
std::vector<std::pair<std::string, const toml::table*>> InFileOrder(const toml::table& hosts) {
  std::vector<std::pair<std::string, const toml::table*>> ordered;
  for (const auto& [name, node] : hosts) ordered.emplace_back(std::string(name.str()), node.as_table());
  auto position = [](const auto& entry) {
    if (entry.second == nullptr) return std::pair<uint32_t, uint32_t>(0, 0);
    const toml::source_position& begin = entry.second->source().begin;
    return std::pair<uint32_t, uint32_t>(begin.line, begin.column);
  };
  std::stable_sort(ordered.begin(), ordered.end(),
                   [&](const auto& a, const auto& b) { return position(a) < position(b); });
  return ordered;
}

Result<HostsToml> ReadDocument(const toml::table& document, const std::string& folder) {
  HostsToml hosts;
  if (const toml::node* node = document.get("host")) {
    const toml::table* tables = node->as_table();
    if (tables == nullptr) return AtLine(node->source(), "host: not a table");
    for (const auto& [name, table] : InFileOrder(*tables)) {
      if (table == nullptr) return AtLine(node->source(), "host: an entry that is no table");
      if (name.empty()) return AtLine(table->source(), "host: an entry without a name");
      SOCI_ASSIGN_OR_RETURN(HostsTomlEntry entry, ReadEntry(*table, name, table->source(), folder));
      hosts.entries.push_back(std::move(entry));
    }
  }
  std::string server;
  if (const toml::node* node = document.get("server")) {
    const auto* text = node->as_string();
    if (text == nullptr) return AtLine(node->source(), "server: not a string");
    server = text->get();
  }
  SOCI_ASSIGN_OR_RETURN(HostsTomlEntry own, ReadEntry(document, server, document.source(), folder));
  hosts.entries.push_back(std::move(own));
  return hosts;
}

}  // namespace

Result<std::string> RegistryBase(std::string_view server, bool override_path) {
  std::string text(server);
  if (text.find("://") == std::string::npos) text = "https://" + text;
  Result<Url> url = Url::Parse(text);
  if (!url.ok()) return Annotate(url.status(), "server");
  std::string path = url->path;
  while (path.ends_with("/")) path.pop_back();
  if (!override_path && path != "/v2" && !path.ends_with("/v2")) path += "/v2";
  return url->Origin() + path;
}

Result<HostsToml> ParseHostsToml(std::string_view toml, const std::string& folder) {
  try {
    toml::table document = toml::parse(toml);
    return ReadDocument(document, folder);
  } catch (const toml::parse_error& error) {
    return AtLine(error.source(), std::string_view(error.description()));
  }
}

}  // namespace soci
