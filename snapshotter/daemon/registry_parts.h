// Everything a program needs to talk to registries, in one piece: transport, credentials, client.
//
// One per process, so that tokens, connections and limits are shared. Sources that the client opened go first.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "indexer/base/result.h"
#include "snapshotter/config/config.h"

namespace soci {

class RegistryClient;

class RegistryParts {
 public:
  virtual ~RegistryParts() = default;
  virtual RegistryClient& client() = 0;

  struct Options {
    bool plain_http = false;  // for every host
    std::chrono::milliseconds remember_negative = std::chrono::minutes(1);
    // Where blobs of servers that ignore ranges are kept while they are open; made if missing. Empty: nowhere.
    std::string spool_directory = {};
    uint32_t idle_connections = 128;  // kept open for the next request
  };
  static Result<std::unique_ptr<RegistryParts>> Make(const RegistryConfig& config, const Options& options);
};

}  // namespace soci
