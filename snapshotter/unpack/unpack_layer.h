// Our own full pull of one layer: downloaded, decoded, checked and written in one pass, then sealed.
//
// What it leaves in the folder is what a lazily loaded layer leaves there when it is complete: `fs`, the layer's files
// as containerd unpacks them, and `table`; also `ztoc` where the layer could be read at any place (not for zstd), and
// the mark of a layer that is not synced. `fs` appears by one rename, after the layer's digest and its DiffID were
// found to be right. Blocks; the decoder and what writes files run on a thread each. After a failure the folder is
// worth nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "indexer/base/fetch_context.h"
#include "indexer/base/result.h"
#include "indexer/oci/digest.h"

namespace soci {

class ByteSource;
class DownloadWindow;

struct LayerToUnpack {
  oci::LayerDigest layer;
  oci::DiffId diff_id;
  bool lowest = false;                          // of its image
  std::string host = {};                        // its registry, for the budget of connections
  std::function<void(uint64_t)> progress = {};  // compressed bytes read so far, now and then
};

struct UnpackedLayer {
  // Of the file `ztoc`; empty if there is none: then the table tells the sealed tree, and no spans.
  oci::Digest ztoc;
};

// `folder` is there and empty. kDataLoss if the bytes are not the layer; kUnimplemented for layers that containerd
// unpacks better.
Result<UnpackedLayer> UnpackLayer(const ByteSource& blob, const LayerToUnpack& wanted, const std::string& folder,
                                  DownloadWindow& window, const FetchContext& context);

}  // namespace soci
