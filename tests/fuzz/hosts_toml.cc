// hosts.toml: refused with one line, or a list that ends with the registry's own server and whose addresses are URLs.
#include "indexer/net/hosts_toml.h"

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "indexer/net/url.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto hosts = soci::ParseHostsToml({reinterpret_cast<const char*>(data), size}, "/folder");
  if (!hosts.ok()) return 0;
  if (hosts->entries.empty()) std::abort();
  for (const soci::HostsTomlEntry& entry : hosts->entries) {
    if (!entry.base.empty() && !soci::Url::Parse(entry.base).ok()) std::abort();
    for (const auto& [name, value] : entry.headers.fields()) {
      if (value.find_first_of("\r\n") != std::string::npos) std::abort();
    }
  }
  return 0;
}
