#include "indexer/tar/sparse.h"

#include <algorithm>
#include <limits>

#include "indexer/tar/number.h"

namespace soci::tar {
namespace {

using Pax = std::map<std::string, std::string>;

std::string_view Get(const Pax& pax, const char* key) {
  const auto found = pax.find(key);
  return found == pax.end() ? std::string_view() : std::string_view(found->second);
}

Status BadMap() { return absl::InvalidArgumentError("tar header invalid: malformed sparse map"); }

// Takes the text up to `separator` (or all of it) off the front.
std::string_view TakeToken(std::string_view& text, char separator) {
  const size_t end = text.find(separator);
  const std::string_view token = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return token;
}

Result<std::vector<SparseRange>> TakeRanges(std::string_view text, char separator, size_t count) {
  std::vector<SparseRange> map;
  map.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    const std::optional<int64_t> offset = ParseDecimal(TakeToken(text, separator));
    const std::optional<int64_t> length = ParseDecimal(TakeToken(text, separator));
    if (!offset || !length) return BadMap();
    map.push_back({*offset, *length});
  }
  return map;
}

}  // namespace

SparseFormat SparseFormatOf(const Pax& pax) {
  const std::string_view major = Get(pax, "GNU.sparse.major");
  const std::string_view minor = Get(pax, "GNU.sparse.minor");
  if (major == "0" && (minor == "0" || minor == "1")) return SparseFormat::kMapInRecords;
  if (major == "1" && minor == "0") return SparseFormat::kMapInData;
  if (!major.empty() || !minor.empty()) return SparseFormat::kNone;  // a version that nobody knows
  return Get(pax, "GNU.sparse.map").empty() ? SparseFormat::kNone : SparseFormat::kMapInRecords;
}

Result<std::vector<SparseRange>> SparseMapOfRecords(const Pax& pax) {
  const std::optional<int64_t> count = ParseDecimal(Get(pax, "GNU.sparse.numblocks"));
  const std::string_view text = Get(pax, "GNU.sparse.map");
  if (!count || *count < 0) return BadMap();
  const uint64_t numbers = text.empty() ? 0 : static_cast<uint64_t>(std::count(text.begin(), text.end(), ',')) + 1;
  if (numbers % 2 != 0 || numbers / 2 != static_cast<uint64_t>(*count)) return BadMap();
  return TakeRanges(text, ',', static_cast<size_t>(*count));
}

Result<std::optional<std::vector<SparseRange>>> SparseMapOfBlocks(std::string_view blocks) {
  std::string_view rest = blocks;
  const uint64_t lines = static_cast<uint64_t>(std::count(rest.begin(), rest.end(), '\n'));
  if (lines == 0) return std::nullopt;
  const std::optional<int64_t> count = ParseDecimal(TakeToken(rest, '\n'));
  if (!count || *count < 0 || *count > std::numeric_limits<int64_t>::max() / 2) return BadMap();
  if ((lines - 1) / 2 < static_cast<uint64_t>(*count)) return std::nullopt;
  SOCI_ASSIGN_OR_RETURN(std::vector<SparseRange> map, TakeRanges(rest, '\n', static_cast<size_t>(*count)));
  return map;
}

bool IsValidSparseMap(const std::vector<SparseRange>& map, int64_t file_size) {
  if (file_size < 0) return false;
  int64_t previous_end = 0;
  for (const SparseRange& range : map) {
    if (range.offset < previous_end || range.length < 0) return false;
    if (range.offset > std::numeric_limits<int64_t>::max() - range.length) return false;
    previous_end = range.offset + range.length;
    if (previous_end > file_size) return false;
  }
  return true;
}

Status ApplySparseRecords(Entry& entry) {
  const std::string_view name = Get(entry.pax, "GNU.sparse.name");
  if (!name.empty()) entry.name = name;
  std::string_view size = Get(entry.pax, "GNU.sparse.size");
  if (size.empty()) size = Get(entry.pax, "GNU.sparse.realsize");
  if (size.empty()) return OkStatus();
  const std::optional<int64_t> number = ParseDecimal(size);
  if (!number) return absl::InvalidArgumentError("tar header invalid: size of a sparse file is no number");
  entry.size = *number;
  return OkStatus();
}

}  // namespace soci::tar
