// Reads whole blobs from a content store and proves them. Any thread.
#pragma once

#include <cstdint>
#include <string>

#include "indexer/content/content_store.h"
#include "indexer/oci/manifest.h"

namespace soci {

// The bytes of a blob. kDataLoss if size or digest is not the descriptor's, kResourceExhausted beyond `limit`; every
// error names the digest.
Result<std::string> ReadBlob(ContentStore& store, const oci::Descriptor& blob, uint64_t limit = oci::kMaxDocumentBytes);

// Whether the blob is there and right. In little memory, however large it is.
bool HoldsBlob(ContentStore& store, const oci::Descriptor& blob);

// The digest of all that the source holds.
Result<oci::Digest> HashAll(const ByteSource& source);

}  // namespace soci
