#include "snapshotter/replay/record_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "indexer/base/file_io.h"
#include "indexer/base/log.h"
#include "indexer/record/merge_records.h"
#include "indexer/record/record_codec.h"

namespace soci {

Result<std::optional<Record>> RecordStore::Find(const oci::Digest& manifest) {
  MutexLock lock(mutex_);
  return Read(manifest);
}

Result<std::optional<Record>> RecordStore::Read(const oci::Digest& manifest) {
  const std::string path = PathOf(manifest);
  const auto bytes = ReadFile(path, kMostRecordBytes);
  if (absl::IsNotFound(bytes.status())) return std::nullopt;
  auto record = bytes.ok() ? DecodeRecordOf(manifest, *bytes) : Result<Record>(bytes.status());
  if (record.ok()) {
    ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);  // used now
    return std::optional<Record>(*std::move(record));
  }
  ::unlink(path.c_str());
  return Annotate(record.status(), path);
}

Result<Record> RecordStore::Merge(const Record& record) {
  MutexLock lock(mutex_);
  auto before = Read(record.manifest);
  if (!before.ok()) log::Warning("{}; a new one is made", Message(before.status()));
  std::vector<Record> runs;
  if (before.ok() && before->has_value()) runs.push_back(**std::move(before));
  runs.push_back(record);
  Result<Record> all = MergeRecords(runs);
  if (!all.ok()) {
    log::Warning("{}: {}; a new one is made", PathOf(record.manifest), Message(all.status()));
    all = record;
  }
  SOCI_ASSIGN_OR_RETURN(Record merged, CutRecord(*std::move(all)));
  SOCI_ASSIGN_OR_RETURN(const std::string bytes, EncodeRecord(merged));
  SOCI_RETURN_IF_ERROR(MakeDirectories(folder_, 0700));
  SOCI_RETURN_IF_ERROR(ReplaceFile(PathOf(record.manifest), bytes, 0600));
  DropOldest();
  return merged;
}

void RecordStore::DropOldest() {
  std::vector<std::pair<std::filesystem::file_time_type, std::filesystem::path>> files;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder_, error), end; !error && entry != end; entry.increment(error)) {
    files.emplace_back(entry->last_write_time(error), entry->path());
  }
  if (files.size() <= keep_) return;
  std::sort(files.begin(), files.end());
  for (size_t i = 0; i + keep_ < files.size(); ++i) std::filesystem::remove(files[i].second, error);
}

}  // namespace soci
