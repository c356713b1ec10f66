// The record of an image serves its next build: which share of it keeps its place, in an image of many layers with what
// `import torch` reads spread over them.
#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "indexer/record/record_builder.h"
#include "indexer/record/transfer_record.h"
#include "tests/model/fetch/programs.h"

namespace soci::test {
namespace {

constexpr size_t kLayers = 24;
constexpr size_t kChanged = 11;  // in the middle
const std::set<size_t> kWithoutZtoc = {2, 9, 16, 22};

struct File {
  std::string path;
  uint64_t size = 0;
};
struct Layer {
  oci::LayerDigest digest;
  bool has_ztoc = true;
  std::map<size_t, File> files;  // by their number in the trace
};
using Image = std::vector<Layer>;

oci::LayerDigest Named(const std::string& name) { return oci::LayerDigest(oci::Digest::Of(name)); }

// The files of the trace, each in one of the layers.
Image FirstBuild(const ProgramTrace& trace) {
  Image image;
  for (size_t i = 0; i < kLayers; ++i) {
    image.push_back({Named("layer " + std::to_string(i)), !kWithoutZtoc.contains(i), {}});
  }
  size_t number = 0;
  for (const auto& files : trace.files) {
    for (const UncompressedRange& content : files) {
      image[number * 7 % kLayers].files[number] = {"opt/" + std::to_string(number), content.size()};
      ++number;
    }
  }
  return image;
}

// What was recorded of it: nothing of layers that are not mounted lazily.
Record RecordOf(const Image& image, const ProgramTrace& trace) {
  std::vector<size_t> before = {0};
  for (const auto& files : trace.files) before.push_back(before.back() + files.size());
  std::map<size_t, const Layer*> layer_of;
  std::vector<oci::LayerDigest> layers;
  for (const Layer& layer : image) {
    if (!layer.has_ztoc) continue;
    layers.push_back(layer.digest);
    for (const auto& [number, file] : layer.files) layer_of[number] = &layer;
  }
  RecordBuilder builder(oci::Digest::Of("image"), layers);
  std::chrono::microseconds now(0);
  for (const ProgramRead& read : trace.reads) {
    now += read.think;
    const size_t number = before[read.layer] + ToNumber(read.file) - 2;
    const auto found = layer_of.find(number);
    if (found == layer_of.end()) continue;
    const File& file = found->second->files.at(number);
    builder.Add(found->second->digest, file.path, file.size, read.wanted.begin - read.content.begin, read.wanted.size(),
                static_cast<uint64_t>(now.count()));
  }
  return builder.Build();
}

// Of the changed layer's files one in twelve each: with another size, under another path, in the layer above, in one
// that has no zTOC. The rest is the same file in a layer of another digest.
void Change(Image& image) {
  Layer& changed = image[kChanged];
  changed.digest = Named("changed");
  image[kChanged + 1].digest = Named("the one above, with more in it");
  std::map<size_t, File> left;
  size_t i = 0;
  for (auto& [number, file] : changed.files) {
    switch (i++ % 12) {
      case 1:
        left[number] = {file.path, file.size + 100};
        break;
      case 4:
        left[number] = {"moved/" + file.path, file.size};
        break;
      case 7:
        image[kChanged + 1].files[number] = file;
        break;
      case 10:
        image[*kWithoutZtoc.rbegin()].files[number] = file;
        break;
      default:
        left[number] = file;
    }
  }
  changed.files = std::move(left);
}

struct Share {
  double kept = 0;
  double moved = 0;
  double lost = 0;
};

Share Transfer(const char* what, const Record& record, const Image& next) {
  std::map<std::pair<oci::LayerDigest, std::string>, uint64_t> members;
  std::vector<oci::LayerDigest> layers;
  for (const Layer& layer : next) {
    layers.push_back(layer.digest);
    if (!layer.has_ztoc) continue;
    for (const auto& [number, file] : layer.files) members[{layer.digest, file.path}] = file.size;
  }
  const auto lookup = [&](const oci::LayerDigest& layer, const std::string& path) -> std::optional<LayerMember> {
    const auto found = members.find({layer, path});
    return found == members.end() ? std::nullopt : std::optional(LayerMember{found->second});
  };
  const TransferredRecord transferred = TransferRecord(record, oci::Digest::Of("next"), layers, lookup).value();
  EXPECT_EQ(CheckRecord(transferred.record), OkStatus());
  const auto all = static_cast<double>(transferred.kept_bytes + transferred.moved_bytes + transferred.lost_bytes) / 100;
  const Share share{static_cast<double>(transferred.kept_bytes) / all,
                    static_cast<double>(transferred.moved_bytes) / all,
                    static_cast<double>(transferred.lost_bytes) / all};
  std::printf("%-44s %zu of %zu extents; %.1f %% of the bytes in equal layers, %.1f %% in equal files, %.1f %% lost\n",
              what, transferred.record.extents.size(), record.extents.size(), share.kept, share.moved, share.lost);
  return share;
}

TEST(TransferToARebuiltImage, AllButWhatChangedKeepsItsPlace) {
  const ProgramTrace trace = ProgramTrace::Load("import_torch");
  const Image first = FirstBuild(trace);
  const Record record = RecordOf(first, trace);
  ASSERT_EQ(record.layers.size(), kLayers - kWithoutZtoc.size());

  Image only_that = first;
  Change(only_that);
  const Share one = Transfer("a layer in the middle changed", record, only_that);
  EXPECT_GE(one.kept, 80);
  EXPECT_GT(one.moved, 0);
  EXPECT_LE(one.lost, 5);

  Image all_above = only_that;
  for (size_t i = kChanged + 1; i < kLayers; ++i) all_above[i].digest = Named("built again " + std::to_string(i));
  const Share above = Transfer("... and all above it was built again", record, all_above);
  EXPECT_EQ(above.lost, one.lost) << "equal files are found wherever they are";

  Image others = all_above;
  for (Layer& layer : others) layer.digest = Named("other " + layer.digest.ToString());
  const Share other = Transfer("... and all below it", record, others);
  EXPECT_EQ(other.lost, one.lost);
  EXPECT_EQ(other.kept, 0);

  Image unknown = all_above;
  unknown[kChanged + 2].has_ztoc = false;
  const Share without = Transfer("... and one of those above has no zTOC now", record, unknown);
  EXPECT_GT(without.lost, one.lost);
  EXPECT_LE(without.lost, one.lost + 20);
}

}  // namespace
}  // namespace soci::test
