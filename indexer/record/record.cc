#include "indexer/record/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>
#include <string_view>
#include <tuple>

namespace soci {
namespace {

constexpr size_t kLongestPath = 4096;                             // PATH_MAX
constexpr uint64_t kLargestFile = uint64_t{1} << 62;              // a sum of two stays a number
constexpr uint64_t kLongestThink = uint64_t{86'400} * 1'000'000;  // a day

Status Wrong(std::string what) { return absl::InvalidArgumentError(std::move(what)); }

// A bit for each.
uint64_t AllRuns(const Record& record) {
  const size_t count = record.runs.size();
  return count >= kMostRecordRuns ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
}

bool IsPathWithin(std::string_view path) {
  if (path.empty() || path.size() > kLongestPath || path.find('\0') != std::string_view::npos) return false;
  while (true) {
    const size_t slash = path.find('/');
    const std::string_view name = path.substr(0, slash);
    if (name.empty() || name == "." || name == "..") return false;
    if (slash == std::string_view::npos) return true;
    path.remove_prefix(slash + 1);
  }
}

Status CheckFiles(const Record& record) {
  const RecordedFile* before = nullptr;
  for (const RecordedFile& file : record.files) {
    if (file.layer >= record.layers.size()) return Wrong(fmt::format("a file of layer {}, which is none", file.layer));
    if (!IsPathWithin(file.path)) return Wrong("a path that is none within a layer");
    if (file.size == 0 || file.size > kLargestFile) return Wrong(file.path + ": a size that makes no sense");
    if (before != nullptr && std::tie(before->layer, before->path) >= std::tie(file.layer, file.path)) {
      return Wrong(file.path + ": the files are not in order");
    }
    before = &file;
  }
  return OkStatus();
}

Status CheckExtent(const Record& record, const RecordedExtent& extent) {
  if (extent.file >= record.files.size()) return Wrong(fmt::format("an extent of file {}, which is none", extent.file));
  const RecordedFile& file = record.files[extent.file];
  if (extent.size == 0) return Wrong(file.path + ": an empty extent");
  if (extent.offset > file.size || extent.size > file.size - extent.offset) {
    return Wrong(
        fmt::format("{}: {} bytes at {}, beyond its end at {}", file.path, extent.size, extent.offset, file.size));
  }
  const bool ends_well = extent.end() % kRecordPage == 0 || extent.end() == file.size;
  if (extent.offset % kRecordPage != 0 || !ends_well) return Wrong(file.path + ": an extent that is not whole pages");
  if (extent.think_us % kThinkStep != 0 || extent.think_us > kLongestThink) {
    return Wrong(file.path + ": a think time that makes no sense");
  }
  return OkStatus();
}

Status CheckRuns(const Record& record) {
  if (record.runs.size() > kMostRecordRuns) return Wrong(fmt::format("{} runs", record.runs.size()));
  if (std::adjacent_find(record.runs.begin(), record.runs.end(), std::greater_equal<>()) != record.runs.end()) {
    return Wrong("its runs are not in order");
  }
  bool all_before = true;
  for (const RecordedExtent& extent : record.extents) {
    const std::string& path = record.files[extent.file].path;
    if (record.runs.empty() && extent.runs != 0) return Wrong(path + ": an extent of a run that is none");
    if (!record.runs.empty() && (extent.runs == 0 || (extent.runs & ~AllRuns(record)) != 0)) {
      return Wrong(path + ": an extent of no run, or of one that is none");
    }
    const bool all = IsNeededByAll(record, extent);
    if (all && !all_before) return Wrong(path + ": what all runs need does not come first");
    all_before = all;
  }
  return OkStatus();
}

Status CheckNothingTwice(const Record& record) {
  std::vector<const RecordedExtent*> sorted;
  sorted.reserve(record.extents.size());
  for (const RecordedExtent& extent : record.extents) sorted.push_back(&extent);
  std::sort(sorted.begin(), sorted.end(), [](const RecordedExtent* a, const RecordedExtent* b) {
    return std::tie(a->file, a->offset) < std::tie(b->file, b->offset);
  });
  for (size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i - 1]->file != sorted[i]->file || sorted[i - 1]->end() <= sorted[i]->offset) continue;
    return Wrong(fmt::format("{}: the bytes at {} twice", record.files[sorted[i]->file].path, sorted[i]->offset));
  }
  return OkStatus();
}

}  // namespace

bool IsNeededByAll(const Record& record, const RecordedExtent& extent) { return extent.runs == AllRuns(record); }

std::vector<uint64_t> NeedTimes(const Record& record) {
  std::vector<uint64_t> times;
  times.reserve(record.extents.size());
  uint64_t now = 0;
  bool all_before = true;
  for (const RecordedExtent& extent : record.extents) {
    const bool all = IsNeededByAll(record, extent);
    if (all_before && !all) now = 0;
    all_before = all;
    now += extent.think_us;
    times.push_back(now);
  }
  return times;
}

Status CheckRecord(const Record& record) {
  if (record.manifest.empty()) return Wrong("no image is named");
  if (record.layers.size() > kMostRecordLayers) return Wrong(fmt::format("{} layers", record.layers.size()));
  if (record.extents.size() > kMostRecordExtents) return Wrong(fmt::format("{} extents", record.extents.size()));
  if (record.files.size() > record.extents.size()) return Wrong("files without an extent");
  if (std::set(record.layers.begin(), record.layers.end()).size() != record.layers.size())
    return Wrong("a layer twice");
  SOCI_RETURN_IF_ERROR(CheckFiles(record));
  for (const RecordedExtent& extent : record.extents) SOCI_RETURN_IF_ERROR(CheckExtent(record, extent));
  SOCI_RETURN_IF_ERROR(CheckRuns(record));
  return CheckNothingTwice(record);
}

}  // namespace soci
