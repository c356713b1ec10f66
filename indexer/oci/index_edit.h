// Changes one entry of an image index that belongs to somebody else: an OCI layout's index.json, a referrers tag.
//
// Everything that is not the entry stays as it is, unknown members and their order included. Pure.
#pragma once

#include <string>
#include <string_view>

#include "indexer/oci/descriptor.h"

namespace soci::oci {

// The text with `entry` in its `manifests`: over the entry of the same digest (whose other members and annotations
// stay), else at the end. Comes back unchanged, byte for byte, if there is nothing to change. kInvalidArgument if it is
// no image index.
Result<std::string> WithEntry(std::string_view image_index, const Descriptor& entry);

}  // namespace soci::oci
