// An image as it lies in any registry, copied to the benchmark's own: this machine's platform, byte for byte.
#pragma once

#include <stop_token>
#include <string>

#include "bench/run/layer_folder.h"
#include "indexer/registry/registry_client.h"

namespace soci::bench {

// Blobs go through a file in `scratch`, one at a time. Throws std::runtime_error, naming the image.
PushedImage CopyImage(RegistryClient& from, const std::string& reference, const test::DockerRegistry& to,
                      const std::string& repository, const std::string& scratch, const std::stop_token& stop);

}  // namespace soci::bench
