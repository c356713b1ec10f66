// The referrers of a manifest in a registry without a referrers API: an image index under the tag sha256-<hex of the
// subject>, which clients keep themselves.
//
// The entry is put in over what was read, by ETag where the registry compares it. Most do not, so two writers at once
// may lose one's entry: it is looked for afterwards, once more after a while, and put in again. What others wrote stays
// as it is. Blocks; thread rules are the client's.
#pragma once

#include <chrono>
#include <string>

#include "indexer/base/result.h"
#include "indexer/oci/descriptor.h"
#include "indexer/oci/reference.h"

namespace soci {

class RegistryClient;

std::string ReferrersTag(const oci::Digest& subject);

// `settle`: longer than another writer takes from reading to writing. kInvalidArgument if the tag holds something that
// is no image index; kAborted if others keep writing over the entry.
Status AddToReferrersTag(RegistryClient& registry, const oci::Reference& repository, const oci::Digest& subject,
                         const oci::Descriptor& referrer,
                         std::chrono::milliseconds settle = std::chrono::milliseconds(300));

}  // namespace soci
