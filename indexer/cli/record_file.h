// A record in a file that the user names.
#pragma once

#include <string>

#include "indexer/base/result.h"
#include "indexer/record/record.h"

namespace soci::cli {

Result<Record> ReadRecordFile(const std::string& path);
Status WriteRecordFile(const std::string& path, const Record& record);

}  // namespace soci::cli
