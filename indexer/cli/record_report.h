// What the verbs of `record` show of one. Pure.
#pragma once

#include <optional>
#include <string>

#include "indexer/oci/digest.h"
#include "indexer/record/record.h"
#include "indexer/record/transfer_record.h"

namespace soci::cli {

// Each on lines of their own. `artifact`: the manifest it was found under or stored as.
std::string RecordText(const Record& record, bool with_extents);
// `transfer`: how much of an older version's record it is.
std::string RecordJson(const Record& record, const std::optional<oci::Digest>& artifact, bool with_extents,
                       const TransferredRecord* transfer = nullptr);

}  // namespace soci::cli
