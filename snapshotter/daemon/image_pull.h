// Pulls an image into containerd through a snapshotter that may make layers lazy: `soci-snapshotter pull`.
//
// Does what a CRI or nerdctl pull does and `ctr` does not: it tells the snapshotter which layer of which image it is
// about. Layers that the snapshotter does not take are downloaded into containerd's content store and unpacked by
// containerd. Everything is made under a lease and the image record comes last, so that a pull that fails or is stopped
// leaves nothing that containerd would not collect. One thread at a time.
#pragma once

#include <chrono>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "indexer/content/containerd_channel.h"
#include "indexer/oci/manifest.h"
#include "indexer/oci/reference.h"

namespace soci {

class RegistryClient;

enum class LayerPulled {
  kExisted,   // the snapshotter has it, from this or another image
  kLazy,      // the snapshotter took it
  kUnpacked,  // downloaded and unpacked
};

struct PulledImage {
  oci::Descriptor target;  // what the image record points to
  oci::Digest manifest;    // of this machine's platform
  std::vector<LayerPulled> layers;
};

// Told what happens, for people. Any of the calls may be empty; `downloading` comes from several threads.
struct PullProgress {
  std::function<void(const oci::Manifest&)> resolved;
  std::function<void(size_t layer, uint64_t bytes)> downloading;
  std::function<void(size_t layer)> unpacking;
  std::function<void(size_t layer, LayerPulled)> layer_done;
};

struct PullOptions {
  std::string snapshotter = "soci";
  std::stop_token stop = {};
  std::chrono::milliseconds budget = std::chrono::seconds(60);  // of finding out about the image
};

Result<PulledImage> PullImage(RegistryClient& registry, ContainerdChannel& containerd, const oci::Reference& image,
                              const PullOptions& options, const PullProgress& progress);

// The value of the label that names this layer and those above it, as many as a label may hold.
std::string NeighboursLabel(const oci::Manifest& manifest, size_t layer);

}  // namespace soci
