#include "indexer/record/merge_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "indexer/record/assemble.h"
#include "indexer/record/record_codec.h"

namespace soci {
namespace {

std::vector<uint64_t> RunsOf(const Record& record) {
  return record.runs.empty() ? std::vector{RunName(record)} : record.runs;
}

// The bits of one record's runs among all: what each of them becomes, 0 for a run that is not kept.
std::vector<uint64_t> BitsAmong(const std::vector<uint64_t>& runs, const std::vector<uint64_t>& all) {
  std::vector<uint64_t> bits;
  for (const uint64_t run : runs) {
    const auto place = std::lower_bound(all.begin(), all.end(), run);
    const bool kept = place != all.end() && *place == run;
    bits.push_back(kept ? uint64_t{1} << (place - all.begin()) : 0);
  }
  return bits;
}

uint64_t Translated(uint64_t runs, const std::vector<uint64_t>& bits) {
  uint64_t translated = 0;
  for (size_t i = 0; i < bits.size(); ++i) {
    if ((runs >> i & 1) != 0) translated |= bits[i];
  }
  return translated;
}

Status AddRecord(const Record& record, uint64_t number, const std::vector<uint64_t>& runs, Assembly& assembly) {
  for (const RecordedFile& file : record.files) {
    const auto [known, is_new] = assembly.sizes.try_emplace({file.layer, file.path}, file.size);
    if (known->second == file.size) continue;
    return absl::InvalidArgumentError(
        fmt::format("{}: {} bytes in one record, {} in another", file.path, known->second, file.size));
  }
  const std::vector<uint64_t> bits = BitsAmong(runs, assembly.runs);
  const std::vector<uint64_t> times = NeedTimes(record);
  for (size_t i = 0; i < record.extents.size(); ++i) {
    const RecordedExtent& extent = record.extents[i];
    const RecordedFile& file = record.files[extent.file];
    const uint64_t of_runs = record.runs.empty() ? bits[0] : Translated(extent.runs, bits);
    assembly.parts.push_back(
        {file.layer, file.path, extent.offset, extent.end(), times[i], of_runs, number << 32 | uint64_t{i}});
  }
  return OkStatus();
}

}  // namespace

Result<Record> MergeRecords(const std::vector<Record>& records) {
  std::vector<const Record*> distinct;
  for (const Record& record : records) {
    const bool known = std::any_of(distinct.begin(), distinct.end(), [&](const Record* one) { return *one == record; });
    if (!known) distinct.push_back(&record);
  }
  if (distinct.empty()) return absl::InvalidArgumentError("no record to merge");
  const Record& first = *distinct.front();
  if (distinct.size() == 1) return first;
  std::vector<std::vector<uint64_t>> runs;
  std::set<uint64_t> all;
  for (const Record* record : distinct) {
    if (record->manifest != first.manifest) {
      return absl::InvalidArgumentError(fmt::format("one record is about {}, another about {}",
                                                    first.manifest.ToString(), record->manifest.ToString()));
    }
    if (record->layers != first.layers) return absl::InvalidArgumentError("the records tell different layers");
    runs.push_back(RunsOf(*record));
    all.insert(runs.back().begin(), runs.back().end());
  }
  Assembly assembly{.manifest = first.manifest, .layers = first.layers, .runs = {all.begin(), all.end()}};
  if (assembly.runs.size() > kMostRecordRuns) assembly.runs.resize(kMostRecordRuns);
  for (size_t i = 0; i < distinct.size(); ++i) SOCI_RETURN_IF_ERROR(AddRecord(*distinct[i], i, runs[i], assembly));
  return Assemble(assembly);
}

Result<Record> CutRecord(Record record, size_t most_bytes) {
  Result<std::string> encoded = EncodeRecord(record);
  if (encoded.ok() && encoded->size() <= most_bytes) return record;
  // What is left of a run is still that run's.
  if (record.runs.empty()) {
    record.runs = {RunName(record)};
    for (RecordedExtent& extent : record.extents) extent.runs = 1;
  }
  size_t count = record.extents.size();
  while (true) {
    // A guess by what the last one took, and always less; a record that cannot be encoded at all is halved.
    const size_t guess = encoded.ok() ? count * most_bytes / encoded->size() : count / 2;
    count = std::min(guess, count - count / 64 - (count > 0 ? 1 : 0));
    Record cut = FirstExtents(record, count);
    encoded = EncodeRecord(cut);
    if (encoded.ok() && encoded->size() <= most_bytes) return cut;
    if (count == 0) return absl::InvalidArgumentError(fmt::format("no record fits in {} bytes", most_bytes));
  }
}

}  // namespace soci
