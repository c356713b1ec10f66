// A record as bytes, for disks and registries: docs/formats.md, "Records". Pure; any thread.
#pragma once

#include <string>
#include <string_view>

#include "indexer/base/result.h"
#include "indexer/record/record.h"

namespace soci {

inline constexpr size_t kMostRecordBytes = 1 << 20;  // encoded; a rule of thumb is 64 KiB

// kInvalidArgument if the record is not sound, or would be larger than kMostRecordBytes.
Result<std::string> EncodeRecord(const Record& record);

// The name of the run whose record this is: the same wherever it is computed.
uint64_t RunName(const Record& record);

// A sound record. Any bytes may be given. kFailedPrecondition for one of a later version of the format,
// kInvalidArgument with one line for everything else that is none.
Result<Record> DecodeRecord(std::string_view bytes);

// The same, and kInvalidArgument if it is about another image.
Result<Record> DecodeRecordOf(const oci::Digest& manifest, std::string_view bytes);

}  // namespace soci
