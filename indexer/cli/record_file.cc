#include "indexer/cli/record_file.h"

#include "indexer/base/file_io.h"
#include "indexer/record/record_codec.h"

namespace soci::cli {

Result<Record> ReadRecordFile(const std::string& path) {
  SOCI_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path, kMostRecordBytes));
  return DecodeRecord(bytes);
}

Status WriteRecordFile(const std::string& path, const Record& record) {
  SOCI_ASSIGN_OR_RETURN(const std::string bytes, EncodeRecord(record));
  return WriteFileAtomic(path, bytes);
}

}  // namespace soci::cli
