// The referrers of a manifest in a registry without a referrers API: an image index under the tag sha256-<hex of the
// subject>, which clients keep themselves.
//
// Registries have no compare-and-swap, so two writers at once may lose one's entry; it is looked for afterwards and put
// in again. What others wrote stays as it is. Thread rules are the client's.
#pragma once

#include "indexer/base/result.h"
#include "indexer/oci/descriptor.h"
#include "indexer/oci/reference.h"

namespace soci {

class RegistryClient;

// kInvalidArgument if the tag holds something that is no image index; kAborted if others keep writing over the entry.
Status AddToReferrersTag(RegistryClient& registry, const oci::Reference& repository, const oci::Digest& subject,
                         const oci::Descriptor& referrer);

}  // namespace soci
