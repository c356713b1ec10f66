// PAX extended headers: records that add to, or override, what a member's own header says. Pure; any thread.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "indexer/base/result.h"
#include "indexer/tar/entry.h"

namespace soci::tar {

using PaxRecords = std::map<std::string, std::string>;

// The records of one extended header's data. A key that occurs twice keeps its last value; the offset and numbytes
// records of the oldest sparse format become one GNU.sparse.map. kInvalidArgument for anything that is no such record.
Result<PaxRecords> ParsePaxRecords(std::string_view data);

// Lets the records override `entry`'s fields and keeps them all in entry.pax. Empty values override nothing.
Status ApplyPaxRecords(PaxRecords records, Entry& entry);

}  // namespace soci::tar
