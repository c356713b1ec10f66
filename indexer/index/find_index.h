// Finds the SOCI index of an image in the image's own repository, and fetches what it lists.
//
// Order: the digest that was named; the annotation in the image's manifest; the referrers. Of several referrers the one
// with the lowest digest that is a SOCI index about this image counts: the choice depends on what is there, not on the
// registry's order. Thread rules are the client's.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "indexer/base/fetch_context.h"
#include "indexer/index/soci_index.h"
#include "indexer/oci/manifest.h"
#include "indexer/oci/reference.h"

namespace soci {

class RegistryClient;

// Larger zTOCs are refused before anything is fetched: the format's own tools cannot make them.
inline constexpr int64_t kMaxZtocBytes = int64_t{1} << 30;

struct FindOptions {
  // Take this index and look for no other.
  std::optional<oci::Digest> named = std::nullopt;
  // Only an index that is named or that the image's own manifest names (trust = "bound").
  bool bound_only = false;
  // Whether the registry is asked for referrers of the image at all.
  bool referrers = true;
  // Gives the image's manifest, waiting for it, where the caller has it fetched meanwhile; empty: it is fetched here.
  // The registry is then asked for referrers at the same time, which an image that names its index wastes.
  std::function<Result<oci::Manifest>()> manifest = {};
};

// Nothing if the image has no index (an annotation that points to nothing counts as none). A named index that is not
// there is kNotFound. kInvalidArgument or kDataLoss if the only candidates are damaged.
Result<std::optional<SociIndex>> FindSociIndex(RegistryClient& registry, const oci::Reference& repository,
                                               const oci::Digest& image_manifest, const FindOptions& options,
                                               const FetchContext& context);

// The bytes of a zTOC, checked against digest and size.
Result<std::string> FetchZtoc(RegistryClient& registry, const oci::Reference& repository, const oci::Descriptor& ztoc,
                              const FetchContext& context);

}  // namespace soci
