// Makes the record of an image serve its next version, by the SOCI index of that one: what is in its layers is read
// from their zTOCs.
#pragma once

#include "indexer/base/fetch_context.h"
#include "indexer/index/image_home.h"
#include "indexer/index/select_platforms.h"
#include "indexer/index/soci_index.h"
#include "indexer/record/transfer_record.h"

namespace soci {

// Of layers without a zTOC nothing is known. Memory: one zTOC.
Result<TransferredRecord> TransferByIndex(ImageHome& home, const PlatformImage& image, const SociIndex& index,
                                          const Record& record, const FetchContext& context);

}  // namespace soci
