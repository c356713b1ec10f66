#include "indexer/index/transfer_by_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "indexer/index/files_at.h"
#include "indexer/index/find_index.h"
#include "indexer/ztoc/ztoc.h"

namespace soci {
namespace {

using Members = std::map<std::string, MemberAt>;

// The paths that have to be looked for: those in layers that the image lacks.
std::set<std::string> LostPaths(const Record& record, const PlatformImage& image) {
  std::set<std::string> paths;
  for (const RecordedFile& file : record.files) {
    const oci::LayerDigest& layer = record.layers[file.layer];
    const bool there = std::any_of(image.manifest.layers.begin(), image.manifest.layers.end(),
                                   [&](const oci::Descriptor& one) { return one.digest == layer; });
    if (!there) paths.insert(file.path);
  }
  return paths;
}

Result<Members> ReadMembers(ImageHome& home, const oci::Descriptor& ztoc, const std::set<std::string>& paths,
                            const FetchContext& context) {
  const std::string what = fmt::format("zTOC {}", ztoc.digest.ToString());
  Result<std::string> bytes = home.Read(ztoc, static_cast<uint64_t>(kMaxZtocBytes), context);
  if (!bytes.ok()) return Annotate(bytes.status(), what);
  const Result<ZtocView> view = ViewZtoc(*bytes);
  if (!view.ok()) return Annotate(view.status(), what);
  return FilesAt(*view->entries, paths);
}

}  // namespace

Result<TransferredRecord> TransferByIndex(ImageHome& home, const PlatformImage& image, const SociIndex& index,
                                          const Record& record, const FetchContext& context) {
  const std::set<std::string> paths = LostPaths(record, image);
  std::vector<oci::LayerDigest> layers;
  std::map<oci::LayerDigest, Members> members;
  for (const oci::Descriptor& layer : image.manifest.layers) {
    layers.emplace_back(layer.digest);
    const oci::Descriptor* const ztoc = index.ZtocFor(layers.back());
    if (ztoc == nullptr || paths.empty() || members.contains(layers.back())) continue;
    SOCI_ASSIGN_OR_RETURN(members[layers.back()], ReadMembers(home, *ztoc, paths, context));
  }
  const LayerLookup lookup = [&](const oci::LayerDigest& layer, const std::string& path) -> std::optional<LayerMember> {
    const auto of_layer = members.find(layer);
    if (of_layer == members.end()) return std::nullopt;
    const auto member = of_layer->second.find(path);
    if (member == of_layer->second.end()) return std::nullopt;
    const std::optional<UncompressedRange>& content = member->second.content;
    return LayerMember{content ? std::optional(content->size()) : std::nullopt};
  };
  return TransferRecord(record, image.descriptor.digest, layers, lookup);
}

}  // namespace soci
