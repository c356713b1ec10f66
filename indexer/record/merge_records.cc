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

// Of all records.
std::vector<oci::LayerDigest> LayersOf(const std::vector<const Record*>& records) {
  const std::vector<oci::LayerDigest>& first = records.front()->layers;
  const bool all_same =
      std::all_of(records.begin(), records.end(), [&](const Record* one) { return one->layers == first; });
  if (all_same) return first;
  std::set<oci::LayerDigest> all;
  for (const Record* record : records) all.insert(record->layers.begin(), record->layers.end());
  return {all.begin(), all.end()};
}

// Of each layer, the bits of the runs that did not know it.
std::vector<uint64_t> StrangersOf(const std::vector<const Record*>& records,
                                  const std::vector<std::vector<uint64_t>>& runs, const Assembly& assembly) {
  std::vector<uint64_t> strangers;
  for (const oci::LayerDigest& layer : assembly.layers) {
    uint64_t known = 0, unknown = 0;
    for (size_t i = 0; i < records.size(); ++i) {
      const std::vector<oci::LayerDigest>& its = records[i]->layers;
      const bool has_it = std::find(its.begin(), its.end(), layer) != its.end();
      for (const uint64_t bit : BitsAmong(runs[i], assembly.runs)) (has_it ? known : unknown) |= bit;
    }
    strangers.push_back(unknown & ~known);
  }
  return strangers;
}

Status AddRecord(const Record& record, uint64_t number, const std::vector<uint64_t>& runs,
                 const std::vector<uint64_t>& strangers, Assembly& assembly) {
  std::vector<uint32_t> layers;  // what each of its layers is in all
  for (const oci::LayerDigest& layer : record.layers) {
    const auto place = std::find(assembly.layers.begin(), assembly.layers.end(), layer);
    layers.push_back(static_cast<uint32_t>(place - assembly.layers.begin()));
  }
  for (const RecordedFile& file : record.files) {
    const auto [known, is_new] = assembly.sizes.try_emplace({layers[file.layer], file.path}, file.size);
    if (known->second == file.size) continue;
    return absl::InvalidArgumentError(
        fmt::format("{}: {} bytes in one record, {} in another", file.path, known->second, file.size));
  }
  const std::vector<uint64_t> bits = BitsAmong(runs, assembly.runs);
  const std::vector<uint64_t> times = NeedTimes(record);
  for (size_t i = 0; i < record.extents.size(); ++i) {
    const RecordedExtent& extent = record.extents[i];
    const RecordedFile& file = record.files[extent.file];
    const uint32_t layer = layers[file.layer];
    uint64_t of_runs = record.runs.empty() ? bits[0] : Translated(extent.runs, bits);
    if (of_runs != 0) of_runs |= strangers[layer];
    assembly.parts.push_back(
        {layer, file.path, extent.offset, extent.end(), times[i], of_runs, number << 32 | uint64_t{i}});
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
    runs.push_back(RunsOf(*record));
    all.insert(runs.back().begin(), runs.back().end());
  }
  Assembly assembly{.manifest = first.manifest, .layers = LayersOf(distinct), .runs = {all.begin(), all.end()}};
  if (assembly.layers.size() > kMostRecordLayers) {
    return absl::InvalidArgumentError(fmt::format("the records tell {} layers", assembly.layers.size()));
  }
  if (assembly.runs.size() > kMostRecordRuns) assembly.runs.resize(kMostRecordRuns);
  const std::vector<uint64_t> strangers = StrangersOf(distinct, runs, assembly);
  for (size_t i = 0; i < distinct.size(); ++i) {
    SOCI_RETURN_IF_ERROR(AddRecord(*distinct[i], i, runs[i], strangers, assembly));
  }
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
