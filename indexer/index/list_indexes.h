// All SOCI indexes of one image, in the order in which they would be taken; see FindSociIndex for the rule.
#pragma once

#include <vector>

#include "indexer/base/fetch_context.h"
#include "indexer/index/image_home.h"
#include "indexer/index/select_platforms.h"
#include "indexer/index/soci_index.h"

namespace soci {

// The one that the image's manifest names comes first, then the referrers by digest. An index that is gone is left out;
// one that is damaged is the error.
Result<std::vector<SociIndex>> ListIndexes(ImageHome& home, const PlatformImage& image, const FetchContext& context);

// The index of this digest.
Result<SociIndex> ReadIndex(ImageHome& home, const oci::Digest& digest, FoundBy found_by, const FetchContext& context);

}  // namespace soci
