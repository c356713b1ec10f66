// Gets one layer ready to be mounted: zTOC fetched, table compiled, both in the layer's folder beside origin.json.
//
// A table that is there already costs nothing and nothing is fetched. What is written is written atomically, the origin
// last: a folder with an origin is whole. One caller per layer at a time is not needed; two write the same bytes.
#pragma once

#include <memory>
#include <string>

#include "indexer/base/fetch_context.h"
#include "indexer/oci/descriptor.h"
#include "snapshotter/pull/layer_origin.h"

namespace soci {

class LayerNumbers;
class LayerTable;
class RegistryClient;

struct LayerToPrepare {
  oci::Reference image;
  oci::Digest manifest;
  oci::Descriptor layer;  // as the manifest lists it
  oci::DiffId diff_id;
  oci::Descriptor ztoc;  // as the index lists it
  bool lowest = false;   // of its image
};

// What is known of a layer that is ready. The table comes along because opening one checks all of it.
struct ReadyLayer {
  LayerOrigin origin;
  std::shared_ptr<const LayerTable> table;
};

// kInvalidArgument if the zTOC is unsound or contradicts the manifest, or by CheckPlaceInImage; otherwise what fetching
// says.
Result<ReadyLayer> PrepareLayer(RegistryClient& registry, const LayerToPrepare& wanted, const std::string& layer_folder,
                                LayerNumbers& numbers, const FetchContext& context);

// Whether the folder holds a sealed layer: its files, verified against the DiffID of its origin.
bool IsSealed(const std::string& layer_folder);

// kInvalidArgument if layers below decide on owner and mode of a folder of this one, so that only who unpacks it on
// top of them can know those.
Status CheckPlaceInImage(const LayerTable& table, bool lowest);

// After a restart: the origin of a folder whose table is sound, or was compiled again from the zTOC beside it.
// kNotFound or kDataLoss if the folder cannot be used.
Result<ReadyLayer> AdoptLayer(const oci::LayerDigest& layer, const std::string& layer_folder);

}  // namespace soci
