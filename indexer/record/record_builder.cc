#include "indexer/record/record_builder.h"

#include <algorithm>

namespace soci {
namespace {

// Longer silences say nothing about the program, and a record of days is no record of a start.
constexpr uint64_t kLongestThink = uint64_t{3600} * 1'000'000;

}  // namespace

RecordBuilder::RecordBuilder(const oci::Digest& manifest, const std::vector<oci::LayerDigest>& layers,
                             size_t most_extents)
    : manifest_(manifest), most_extents_(std::min(most_extents, kMostRecordExtents)) {
  for (const oci::LayerDigest& layer : layers) {
    if (std::find(layers_.begin(), layers_.end(), layer) == layers_.end()) layers_.push_back(layer);
  }
}

void RecordBuilder::Add(const oci::LayerDigest& layer, const std::string& path, uint64_t file_size, uint64_t offset,
                        uint64_t size, uint64_t at_us) {
  const auto place = std::find(layers_.begin(), layers_.end(), layer);
  if (place == layers_.end() || path.empty() || size == 0 || offset >= file_size) return;
  const auto [file, is_new] =
      files_.try_emplace({static_cast<uint32_t>(place - layers_.begin()), path}, File{file_size, {}});
  if (file->second.size != file_size) return;  // a layer's file has one size
  const uint64_t end = offset + std::min(size, file_size - offset);
  const uint64_t page_end = (end + kRecordPage - 1) / kRecordPage * kRecordPage;
  AddPages(file, offset / kRecordPage * kRecordPage, std::min(page_end, file_size), at_us);
}

void RecordBuilder::Append(const Record& other) {
  uint64_t at_us = last_us_;
  for (const RecordedExtent& extent : other.extents) {
    const RecordedFile& file = other.files[extent.file];
    at_us += extent.think_us;
    Add(other.layers[file.layer], file.path, file.size, extent.offset, extent.size, at_us);
  }
}

// The holes in [begin, end), which is covered afterwards.
void RecordBuilder::AddPages(Files::iterator file, uint64_t begin, uint64_t end, uint64_t at_us) {
  std::map<uint64_t, uint64_t>& covered = file->second.covered;
  auto next = covered.upper_bound(begin);
  if (next != covered.begin() && std::prev(next)->second > begin) begin = std::prev(next)->second;
  while (begin < end && !full()) {
    next = covered.lower_bound(begin);
    const uint64_t hole_end = next == covered.end() ? end : std::min(end, next->first);
    if (begin < hole_end) {
      AddExtent(file, begin, hole_end, at_us);
      covered.emplace(begin, hole_end);
    }
    begin = next == covered.end() ? end : next->second;
  }
}

void RecordBuilder::AddExtent(Files::iterator file, uint64_t begin, uint64_t end, uint64_t at_us) {
  if (!extents_.empty() && extents_.back().file == file && extents_.back().offset + extents_.back().size == begin) {
    extents_.back().size += end - begin;  // a file that is read in order is one extent, needed when it began
    return;
  }
  uint64_t think = at_us > last_us_ ? (at_us - last_us_) / kThinkStep * kThinkStep : 0;
  last_us_ += think;  // what is less than a step counts with the next extent
  think = std::min(think, kLongestThink);
  extents_.push_back({file, begin, end - begin, think});
}

Record RecordBuilder::Build() {
  Record record;
  record.manifest = manifest_;
  record.layers = layers_;
  std::map<const File*, uint32_t> numbers;
  for (const auto& [key, file] : files_) {
    if (file.covered.empty()) continue;
    numbers.emplace(&file, static_cast<uint32_t>(record.files.size()));
    record.files.push_back({key.first, key.second, file.size});
  }
  for (const Extent& extent : extents_) {
    record.extents.push_back({numbers.at(&extent.file->second), extent.offset, extent.size, extent.think_us});
  }
  extents_.clear();
  files_.clear();
  last_us_ = 0;
  return record;
}

}  // namespace soci
