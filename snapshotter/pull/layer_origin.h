// Where a layer came from, kept beside its table as origin.json: what a restarted daemon needs to go on with it when
// no one can be asked. A value; reading checks everything, the state directory may come from another host.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "indexer/oci/descriptor.h"
#include "indexer/oci/reference.h"

namespace soci {

struct LayerOrigin {
  oci::Reference image;  // one of the images that have it; its repository serves the bytes
  oci::Digest manifest;
  std::string media_type;
  uint64_t layer_size = 0;  // compressed
  oci::DiffId diff_id;
  oci::Digest ztoc;  // so that the file `ztoc` can be trusted again
  bool disable_xattrs = false;
  bool unpacked = false;  // pulled as a whole: no SOCI index was needed
  // Of its mount point and of its sealed link; the same after a restart. 0: none was given yet.
  uint32_t number = 0;

  static Result<LayerOrigin> Parse(std::string_view json);
  std::string ToJson() const;
  oci::Descriptor LayerDescriptor(const oci::LayerDigest& layer) const;

  bool operator==(const LayerOrigin&) const = default;
};

// <folder>/origin.json. Writing is atomic and syncs nothing: if a power loss tears it, the layer's table is fetched
// again. kNotFound if there is none.
Result<LayerOrigin> ReadOrigin(const std::string& layer_folder);
Status WriteOrigin(const std::string& layer_folder, const LayerOrigin& origin);

}  // namespace soci
