// Where the files of a snapshot's parents are: folders of our own, or what the provider says of layers.
//
// A layer that could not be restored after a start is tried again when it is needed, so that one that failed for a
// passing reason heals by itself. Any thread.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "indexer/base/mutex.h"
#include "indexer/base/result.h"
#include "snapshotter/metastore/snapshot.h"
#include "snapshotter/overlay/snapshot_folders.h"
#include "snapshotter/pull/layer_provider.h"

namespace soci {

class LowerDirectories {
 public:
  // Borrows both.
  LowerDirectories(LayerProvider& provider, const SnapshotFolders& folders) : provider_(provider), folders_(folders) {}

  // In the order of `parents`. kUnavailable naming the layer that cannot be mounted.
  Result<std::vector<std::string>> Of(const std::vector<Snapshot>& parents);
  Result<std::string> Of(const Snapshot& committed);

  // Mounts the layer of a remote snapshot again.
  Status Restore(const Snapshot& remote, LayerProvider::RestoreFrom from);
  void Forget(const std::string& layer);
  // Some layer of a snapshot is not mounted.
  bool AnyBroken() const;

 private:
  LayerProvider& provider_;
  const SnapshotFolders& folders_;
  mutable Mutex mutex_;  // a leaf; not held while the provider works
  std::set<std::string> broken_ SOCI_GUARDED_BY(mutex_);
};

}  // namespace soci
