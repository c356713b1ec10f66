// An image that lies in a folder as make_layers.sh leaves it (LAYERS names them, lowest first; NAME.tar.gz and
// NAME.diff_id), pushed to a registry. Blobs are mapped, never read into memory. Throws std::runtime_error, also when
// it is stopped.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "tests/e2e/support/docker_registry.h"

namespace soci::bench {

struct PushedImage {
  std::string path;                      // "repository:tag"
  uint64_t bytes = 0;                    // of its layers, as stored
  std::vector<std::string> layers = {};  // their digests' hexadecimal digits
};

PushedImage PushLayerFolder(const std::string& folder, const test::DockerRegistry& registry,
                            const std::string& repository, const std::stop_token& stop);

}  // namespace soci::bench
