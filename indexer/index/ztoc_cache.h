// zTOCs kept from one run to the next, in a directory: a layer that several images share is read once.
//
// An entry is named by everything that decides its bytes: layer digest, span size, build tool. What is damaged counts
// as not there. The directory is the user's own; who may write to it may choose what is stored as an index. Any thread,
// any number of processes.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "indexer/index/layer_indexer.h"

namespace soci {

class ZtocCache {
 public:
  // Makes the directory if need be.
  static Result<std::unique_ptr<ZtocCache>> Open(const std::string& directory);

  std::optional<IndexedLayer> Find(const oci::Descriptor& layer, const LayerIndexOptions& options) const;
  Status Store(const oci::Descriptor& layer, const LayerIndexOptions& options, const IndexedLayer& indexed);

 private:
  explicit ZtocCache(std::string directory) : directory_(std::move(directory)) {}
  std::string PathOf(const oci::Descriptor& layer, const LayerIndexOptions& options) const;

  const std::string directory_;
};

}  // namespace soci
