#include "indexer/tar/pax.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "indexer/tar/number.h"
#include "indexer/tar/sparse.h"

namespace soci::tar {
namespace {

struct Record {
  std::string_view key;
  std::string_view value;
};

bool HasNul(std::string_view text) { return text.find('\0') != std::string_view::npos; }

bool IsValid(const Record& record) {
  if (record.key.empty()) return false;
  const std::string_view key = record.key;
  if (key == "path" || key == "linkpath" || key == "uname" || key == "gname") return !HasNul(record.value);
  return !HasNul(key);
}

// Takes "length key=value\n" off the front of `data`.
std::optional<Record> TakeRecord(std::string_view& data) {
  const size_t space = data.find(' ');
  if (space == std::string_view::npos) return std::nullopt;
  const std::optional<int64_t> length = ParseDecimal(data.substr(0, space));
  if (!length || *length < 5 || static_cast<uint64_t>(*length) > data.size()) return std::nullopt;
  const size_t end = static_cast<size_t>(*length);
  if (end <= space + 1 || data[end - 1] != '\n') return std::nullopt;
  const std::string_view body = data.substr(space + 1, end - space - 2);
  const size_t equals = body.find('=');
  if (equals == std::string_view::npos) return std::nullopt;
  const Record record{body.substr(0, equals), body.substr(equals + 1)};
  if (!IsValid(record)) return std::nullopt;
  data.remove_prefix(end);
  return record;
}

Status BadValue(std::string_view key) {
  return absl::InvalidArgumentError(fmt::format("tar header invalid: PAX record \"{}\" has a bad value", key));
}

Status SetNumber(std::string_view key, std::string_view value, int64_t& field) {
  const std::optional<int64_t> number = ParseDecimal(value);
  if (!number) return BadValue(key);
  field = *number;
  return OkStatus();
}

Status ApplyRecord(std::string_view key, const std::string& value, Entry& entry) {
  if (value.empty()) return OkStatus();
  if (key == "path") entry.name = value;
  if (key == "linkpath") entry.link_name = value;
  if (key == "uname") entry.uname = value;
  if (key == "gname") entry.gname = value;
  if (key == "uid") return SetNumber(key, value, entry.uid);
  if (key == "gid") return SetNumber(key, value, entry.gid);
  if (key == "size") return SetNumber(key, value, entry.size);
  if (key == "mtime" || key == "atime" || key == "ctime") {
    const std::optional<Time> time = ParsePaxTime(value);
    if (!time) return BadValue(key);
    if (key == "mtime") {
      entry.mtime_seconds = time->seconds;
      entry.mtime_nanoseconds = time->nanoseconds;
    }
  }
  return OkStatus();
}

}  // namespace

Result<PaxRecords> ParsePaxRecords(std::string_view data) {
  PaxRecords records;
  std::string sparse_map;
  bool has_sparse_map = false;
  bool expects_offset = true;
  while (!data.empty()) {
    const std::optional<Record> record = TakeRecord(data);
    if (!record) return absl::InvalidArgumentError("tar header invalid: malformed PAX record");
    const bool is_offset = record->key == kSparseOffsetKey;
    if (!is_offset && record->key != kSparseNumBytesKey) {
      records.insert_or_assign(std::string(record->key), std::string(record->value));
      continue;
    }
    if (is_offset != expects_offset || record->value.find(',') != std::string_view::npos) {
      return absl::InvalidArgumentError("tar header invalid: PAX sparse records out of order");
    }
    if (!sparse_map.empty() || !expects_offset) sparse_map += ',';
    sparse_map += record->value;
    expects_offset = !expects_offset;
    has_sparse_map = true;
  }
  if (has_sparse_map) records.insert_or_assign(std::string(kSparseMapKey), std::move(sparse_map));
  return records;
}

Status ApplyPaxRecords(PaxRecords records, Entry& entry) {
  for (const auto& [key, value] : records) SOCI_RETURN_IF_ERROR(ApplyRecord(key, value, entry));
  entry.pax = std::move(records);
  return OkStatus();
}

}  // namespace soci::tar
