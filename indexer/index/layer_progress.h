// Told what happens to each layer of an image that is worked on. Called from the threads that read layers, several at
// once.
#pragma once

#include <cstdint>
#include <string>

#include "indexer/index/layer_choice.h"
#include "indexer/oci/descriptor.h"

namespace soci {

class LayerProgress {
 public:
  virtual ~LayerProgress() = default;
  virtual void OnStart(const oci::Descriptor& layer) = 0;
  virtual void OnBytes(const oci::Descriptor& layer, uint64_t bytes_so_far) = 0;
  virtual void OnEnd(const oci::Descriptor& layer, LayerOutcome outcome, const std::string& reason) = 0;
};

}  // namespace soci
