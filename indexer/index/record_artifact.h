// The record of an image as an artifact beside it: a manifest about the image, found as a SOCI index is, by the
// referrers API or by the tag. The image and its index stay as they are.
//
// Thread rules are the home's or the client's. What a registry says is a stranger's: sizes, digests and the record
// itself are checked, and a record that is about another image counts as damaged.
#pragma once

#include <optional>
#include <string_view>

#include "indexer/base/fetch_context.h"
#include "indexer/index/image_home.h"
#include "indexer/index/select_platforms.h"
#include "indexer/oci/manifest.h"
#include "indexer/oci/reference.h"
#include "indexer/record/record.h"

namespace soci {

class RegistryClient;

struct FoundRecord {
  oci::Digest artifact;  // of its manifest
  Record record;
};

// Of several records that of the most runs counts, and of equals the one with the lowest digest: records that are
// pushed are merged with those before, so it holds the others too. Nothing if there is none. If all there are are
// damaged, an error for which IsRecordDamage holds.
Result<std::optional<FoundRecord>> FindRecord(ImageHome& home, const oci::Digest& image_manifest,
                                              const FetchContext& context);
// The same, in an image's own repository.
Result<std::optional<FoundRecord>> FindRecord(RegistryClient& registry, const oci::Reference& repository,
                                              const oci::Digest& image_manifest, const FetchContext& context);

// The record itself is wrong, not the way to it.
bool IsRecordDamage(const Status& status);

// kInvalidArgument unless the record is about this image and tells its layers.
Status CheckRecordFits(const Record& record, const PlatformImage& image);

// Stores the record and lists it; the digest of its manifest. The record fits the image. Commit() is the caller's.
// kUnimplemented: the home takes no such manifest.
Result<oci::Digest> PutRecord(ImageHome& home, const PlatformImage& image, const Record& record);

}  // namespace soci
