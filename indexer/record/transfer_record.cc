#include "indexer/record/transfer_record.h"

#include <fmt/format.h>

#include <algorithm>

#include "indexer/record/assemble.h"
#include "indexer/record/record_codec.h"

namespace soci {
namespace {

std::optional<uint32_t> PlaceOf(const oci::LayerDigest& layer, const std::vector<oci::LayerDigest>& layers) {
  const auto place = std::find(layers.begin(), layers.end(), layer);
  if (place == layers.end()) return std::nullopt;
  return static_cast<uint32_t>(place - layers.begin());
}

// The layer that shows a file of this path and size: the topmost one that has the path at all decides.
std::optional<uint32_t> FindAgain(const RecordedFile& file, const std::vector<oci::LayerDigest>& layers,
                                  const LayerLookup& lookup) {
  for (size_t layer = layers.size(); layer-- > 0;) {
    const std::optional<LayerMember> member = lookup(layers[layer], file.path);
    if (!member) continue;
    return member->size == file.size ? std::optional(static_cast<uint32_t>(layer)) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

Result<TransferredRecord> TransferRecord(const Record& record, const oci::Digest& manifest,
                                         const std::vector<oci::LayerDigest>& layers, const LayerLookup& lookup) {
  Assembly assembly{.manifest = manifest, .runs = record.runs};
  for (const oci::LayerDigest& layer : layers) {
    if (!PlaceOf(layer, assembly.layers)) assembly.layers.push_back(layer);
  }
  if (assembly.layers.size() > kMostRecordLayers) {
    return absl::InvalidArgumentError(fmt::format("an image of {} layers has no record", assembly.layers.size()));
  }
  const bool one_run = assembly.runs.empty();
  if (one_run) assembly.runs = {RunName(record)};
  struct Place {
    std::optional<uint32_t> layer;
    bool kept = false;
  };
  std::vector<Place> places;
  for (const RecordedFile& file : record.files) {
    const std::optional<uint32_t> same = PlaceOf(record.layers[file.layer], assembly.layers);
    places.push_back({same ? same : FindAgain(file, assembly.layers, lookup), same.has_value()});
    if (!places.back().layer) continue;
    const auto [known, is_new] = assembly.sizes.try_emplace({*places.back().layer, file.path}, file.size);
    if (known->second != file.size) places.back().layer.reset();  // a record that lies about one of them
  }
  TransferredRecord transferred;
  const std::vector<uint64_t> times = NeedTimes(record);
  for (size_t i = 0; i < record.extents.size(); ++i) {
    const RecordedExtent& extent = record.extents[i];
    const Place& place = places[extent.file];
    if (!place.layer) {
      transferred.lost_bytes += extent.size;
      continue;
    }
    (place.kept ? transferred.kept_bytes : transferred.moved_bytes) += extent.size;
    assembly.parts.push_back({*place.layer, record.files[extent.file].path, extent.offset, extent.end(), times[i],
                              one_run ? 1 : extent.runs, i});
  }
  transferred.record = Assemble(assembly);
  return transferred;
}

}  // namespace soci
