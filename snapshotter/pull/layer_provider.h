// What the snapshotter core asks of the pulling side: make a layer's files be there, or say that containerd shall do
// it.
//
// Layers are shared by all snapshots, images and namespaces and named by their digest; the core counts who uses one.
// Any thread. Provide may take as long as the network does; calls for one image share its index and tables.
#pragma once

#include <cstdint>
#include <map>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include "indexer/base/result.h"
#include "indexer/oci/digest.h"

namespace soci {

using Labels = std::map<std::string, std::string>;

// The layer is mounted (or sealed): commit the snapshot under its target name.
struct LayerProvided {
  oci::LayerDigest layer;
  bool lazy = true;     // bytes may still come when they are read
  Labels extra_labels;  // to put on the committed snapshot
};
// Hand containerd ordinary mounts. One line that says why, for the log and for status.
struct LayerDeferred {
  std::string reason;
  bool told = false;  // the log says it already, once for the whole image
};
using ProvideOutcome = std::variant<LayerProvided, LayerDeferred>;

struct LayerUsage {
  uint64_t bytes = 0;
  uint64_t inodes = 0;
};

class LayerProvider {
 public:
  virtual ~LayerProvider() = default;

  // `labels` as they came with Prepare. Never an error for what is only missing: that is LayerDeferred. A layer that
  // was provided stays until Release. `stop`: nobody waits for the answer any more; what is done for this image only
  // ends then.
  virtual Result<ProvideOutcome> Provide(const Labels& labels, const std::string& containerd_namespace,
                                         const std::stop_token& stop) = 0;

  // After a restart: mounts a layer again from what is on disk. `labels` are those of its committed snapshot. If that
  // is of no use, the layer is fetched again, which may take as long as a pull; with kDisk the answer is kUnavailable
  // then.
  enum class RestoreFrom { kDisk, kAnywhere };
  virtual Status Restore(const oci::LayerDigest& layer, const Labels& labels, RestoreFrom from) = 0;

  // A container's root was made over these layers, the lowest first; `labels` are those of the highest one's snapshot.
  // Only news: nothing depends on it.
  virtual void ContainerPrepared(const std::vector<oci::LayerDigest>& /*layers*/, const Labels& /*labels*/) {}

  // The container whose root is being made over these layers shall be recorded, by the name that `recording` was asked
  // for under: it gets mounts of its own, by layer; they stay until EndRecording. kNotFound without such a recording.
  using Directories = std::map<oci::LayerDigest, std::string>;
  virtual Result<Directories> BeginRecording(const std::string& recording,
                                             const std::vector<oci::LayerDigest>& /*layers*/) {
    return absl::NotFoundError("recording " + recording + " was not asked for");
  }
  // The same mounts again; none if there are none any more.
  virtual Directories RecordingDirectories(const std::string& /*recording*/,
                                           const std::vector<oci::LayerDigest>& /*layers*/) {
    return {};
  }
  virtual void EndRecording(const std::string& /*recording*/) {}

  // Where the layer's files are now: short (127 of them fit a page). A FUSE mount, or later a sealed directory.
  virtual Result<std::string> LowerDirectory(const oci::LayerDigest& layer) = 0;

  virtual Result<LayerUsage> Usage(const oci::LayerDigest& layer) = 0;

  // No snapshot uses it any more: fill stops, mount and files go. Unknown layers are fine.
  virtual Status Release(const oci::LayerDigest& layer) = 0;

  // Deletes what no provided or restored layer needs: leftovers of pulls that were given up or killed. To be called
  // after every Restore of a start, and by Cleanup.
  virtual void CollectUnused() {}
};

}  // namespace soci
