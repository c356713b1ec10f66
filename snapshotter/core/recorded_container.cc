#include "snapshotter/core/recorded_container.h"

#include "indexer/oci/annotations.h"

namespace soci {

std::optional<std::string> RecordingOf(const Snapshot& container) {
  const auto label = container.labels.find(std::string(oci::kLabelRecording));
  if (label == container.labels.end() || container.kind != SnapshotKind::kActive) return std::nullopt;
  return label->second;
}

std::vector<oci::LayerDigest> LayersOf(const SnapshotStack& stack) {
  std::vector<oci::LayerDigest> layers;
  for (auto parent = stack.parents.rbegin(); parent != stack.parents.rend(); ++parent) {
    const Result<oci::LayerDigest> layer = oci::LayerDigest::Parse(parent->layer);
    if (parent->remote() && layer.ok()) layers.push_back(*layer);
  }
  return layers;
}

std::optional<std::string> RecordedDirectory(const Snapshot& parent, const LayerProvider::Directories& recorded) {
  if (!parent.remote() || recorded.empty()) return std::nullopt;
  const Result<oci::LayerDigest> layer = oci::LayerDigest::Parse(parent.layer);
  const auto found = layer.ok() ? recorded.find(*layer) : recorded.end();
  return found == recorded.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace soci
