#include "indexer/cli/record_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>
#include <vector>

#include "indexer/cli/format.h"
#include "indexer/oci/json_writer.h"

namespace soci::cli {
namespace {

struct Totals {
  uint64_t bytes = 0;
  uint64_t needed_by_all = 0;
  uint64_t last_us = 0;
  std::set<uint32_t> layers;
};

Totals TotalsOf(const Record& record) {
  Totals totals;
  for (const RecordedExtent& extent : record.extents) {
    totals.bytes += extent.size;
    if (IsNeededByAll(record, extent)) totals.needed_by_all += extent.size;
  }
  for (const uint64_t at_us : NeedTimes(record)) totals.last_us = std::max(totals.last_us, at_us);
  for (const RecordedFile& file : record.files) totals.layers.insert(file.layer);
  return totals;
}

size_t RunCount(const Record& record) { return std::max<size_t>(1, record.runs.size()); }

int RunsOf(const Record& record, const RecordedExtent& extent) {
  return record.runs.empty() ? 1 : std::popcount(extent.runs);
}

// Paths are any bytes; on a terminal they must not be more than text.
std::string Printable(const std::string& path) {
  std::string quoted = fmt::format("{:?}", path);
  return quoted.size() == path.size() + 2 ? path : quoted;
}

std::string ExtentTable(const Record& record) {
  std::vector<std::vector<std::string>> rows = {{"AT (S)", "OFFSET", "SIZE", "RUNS", "LAYER", "PATH"}};
  const std::vector<uint64_t> times = NeedTimes(record);
  for (size_t i = 0; i < record.extents.size(); ++i) {
    const RecordedExtent& extent = record.extents[i];
    const RecordedFile& file = record.files[extent.file];
    rows.push_back({fmt::format("{:.4f}", static_cast<double>(times[i]) / 1e6), std::to_string(extent.offset),
                    std::to_string(extent.size), std::to_string(RunsOf(record, extent)),
                    ShortDigest(record.layers[file.layer].ToString()), Printable(file.path)});
  }
  return Table(rows, {0, 1, 2, 3});
}

}  // namespace

std::string RecordText(const Record& record, bool with_extents) {
  const Totals totals = TotalsOf(record);
  std::string text = fmt::format("record of {}\n", record.manifest.ToString());
  text += fmt::format("{} runs, {} extents of {} files in {} of {} layers\n", RunCount(record), record.extents.size(),
                      record.files.size(), totals.layers.size(), record.layers.size());
  text += fmt::format("{}, {} of it in every run, over {:.1f} s of the program's own time\n", HumanSize(totals.bytes),
                      HumanSize(totals.needed_by_all), static_cast<double>(totals.last_us) / 1e6);
  return with_extents ? text + ExtentTable(record) : text;
}

std::string RecordJson(const Record& record, const std::optional<oci::Digest>& artifact, bool with_extents,
                       const TransferredRecord* transfer) {
  const Totals totals = TotalsOf(record);
  oci::JsonWriter json;
  json.BeginObject().Member("image", record.manifest.ToString());
  if (artifact) json.Member("artifact", artifact->ToString());
  json.Key("runs").Unsigned(RunCount(record)).Key("extents").Unsigned(record.extents.size());
  json.Key("files").Unsigned(record.files.size()).Key("bytes").Unsigned(totals.bytes);
  json.Key("bytes_in_every_run").Unsigned(totals.needed_by_all).Key("last_us").Unsigned(totals.last_us);
  if (transfer != nullptr) {
    json.Key("kept_bytes").Unsigned(transfer->kept_bytes).Key("moved_bytes").Unsigned(transfer->moved_bytes);
    json.Key("lost_bytes").Unsigned(transfer->lost_bytes);
  }
  json.Key("layers").BeginArray();
  for (const oci::LayerDigest& layer : record.layers) json.String(layer.ToString());
  json.EndArray();
  if (with_extents) {
    json.Key("needed").BeginArray();
    const std::vector<uint64_t> times = NeedTimes(record);
    for (size_t i = 0; i < record.extents.size(); ++i) {
      const RecordedExtent& extent = record.extents[i];
      const RecordedFile& file = record.files[extent.file];
      json.BeginObject().Key("at_us").Unsigned(times[i]).Key("offset").Unsigned(extent.offset);
      json.Key("size").Unsigned(extent.size).Key("runs").Integer(RunsOf(record, extent));
      json.Member("layer", record.layers[file.layer].ToString()).Member("path", file.path).EndObject();
    }
    json.EndArray();
  }
  json.EndObject();
  return json.text() + "\n";
}

}  // namespace soci::cli
