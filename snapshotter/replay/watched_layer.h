// A layer whose bytes come as they are read, as recording and replay see it; and how they hear of its coming and going.
#pragma once

#include <memory>

#include "indexer/oci/digest.h"

namespace soci {

class BackingStore;
class FirstReads;
class LayerFetcher;
class LayerTable;

// Valid from LayerOpened until LayerClosing returns; the table longer, if it is kept.
struct WatchedLayer {
  oci::LayerDigest layer;
  std::shared_ptr<const LayerTable> table;
  const BackingStore* store = nullptr;
  LayerFetcher* fetcher = nullptr;
  FirstReads* reads = nullptr;
};

class LayerWatch {
 public:
  virtual ~LayerWatch() = default;
  // Any thread; for one layer one at a time. Quick: nobody is waited for but callbacks that are under way.
  virtual void LayerOpened(const WatchedLayer& layer) = 0;
  // Nothing of the layer is used any more when it returns. A layer that was never opened is fine.
  virtual void LayerClosing(const oci::LayerDigest& layer) = 0;
};

}  // namespace soci
