// The configuration file: any text is either refused with one line or a whole configuration.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "snapshotter/config/config.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto config = soci::ParseConfig(std::string(reinterpret_cast<const char*>(data), size), "fuzz.toml");
  if (config.ok() && config->paths.state.empty()) std::abort();
  if (!config.ok() && soci::Message(config.status()).empty()) std::abort();
  return 0;
}
