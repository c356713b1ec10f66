// How a layer that we provide is doing, for status and metrics. A value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "indexer/oci/digest.h"

namespace soci {

enum class LayerState {
  kUnpacking,  // a full pull of ours is under way; not mounted yet
  kLazy,       // mounted; bytes come when they are read
  kFilling,    // mounted; the rest is being fetched
  kComplete,   // every byte is here, not yet sealed
  kSealed,     // an ordinary directory
  kCondemned,  // its index told lies: reads fail, new containers get it from containerd
};

constexpr std::string_view ToString(LayerState state) {
  switch (state) {
    case LayerState::kUnpacking:
      return "unpacking";
    case LayerState::kLazy:
      return "lazy";
    case LayerState::kFilling:
      return "filling";
    case LayerState::kComplete:
      return "complete";
    case LayerState::kSealed:
      return "sealed";
    case LayerState::kCondemned:
      return "condemned";
  }
  return "";
}

struct LayerReport {
  oci::LayerDigest layer;
  std::string image;  // one of those that have it
  oci::Digest manifest;
  LayerState state = LayerState::kLazy;
  uint64_t layer_size = 0;  // compressed
  uint64_t bytes_read = 0;  // of a layer that is being unpacked
  bool unpacked = false;    // pulled as a whole, without a SOCI index
  uint32_t spans = 0;
  uint32_t spans_present = 0;
  std::string directory;
  std::string reason;  // why it is condemned or stays lazy, if it is or does

  uint32_t percent() const {
    if (state == LayerState::kSealed || state == LayerState::kComplete) return 100;
    if (state == LayerState::kUnpacking) {
      return layer_size == 0 ? 0 : static_cast<uint32_t>(bytes_read * 100 / layer_size);
    }
    return spans == 0 ? 0 : static_cast<uint32_t>(uint64_t{spans_present} * 100 / spans);
  }
};

}  // namespace soci
