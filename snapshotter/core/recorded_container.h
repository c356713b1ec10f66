// A container that is recorded because somebody asked for it, as its snapshot shows it. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "snapshotter/metastore/snapshot.h"
#include "snapshotter/pull/layer_provider.h"

namespace soci {

// The name of the recording.
std::optional<std::string> RecordingOf(const Snapshot& container);

// The layers below a snapshot that the provider has, the lowest first.
std::vector<oci::LayerDigest> LayersOf(const SnapshotStack& stack);

// Where a parent is mounted for the container alone, if it is.
std::optional<std::string> RecordedDirectory(const Snapshot& parent, const LayerProvider::Directories& recorded);

}  // namespace soci
