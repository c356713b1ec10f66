// The folders of layers below the state directory: a folder is there while someone holds it, and goes with the last
// holder.
//
// Sessions hold the layers whose tables they made, live layers hold their own. A folder that is let go is renamed away
// at once, so that a new holder starts from nothing, and deleted afterwards. Any thread. Holds must end before the
// folders object does.
#pragma once

#include <map>
#include <memory>
#include <stop_token>
#include <string>

#include "indexer/base/mutex.h"
#include "indexer/base/result.h"
#include "snapshotter/pull/layer_numbers.h"
#include "snapshotter/pull/state_paths.h"

namespace soci {

class LayerFolders {
 public:
  class Hold {
   public:
    ~Hold() { folders_.LetGo(layer_); }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

   private:
    friend class LayerFolders;
    Hold(LayerFolders& folders, const oci::LayerDigest& layer) : folders_(folders), layer_(layer) {}
    LayerFolders& folders_;
    const oci::LayerDigest layer_;
  };

  explicit LayerFolders(StatePaths paths) : paths_(std::move(paths)), numbers_(paths_) {}

  const StatePaths& paths() const { return paths_; }
  // A layer's number is free again when its folder has gone.
  LayerNumbers& numbers() { return numbers_; }

  // Makes the folder if it is missing.
  Result<std::shared_ptr<const Hold>> Take(const oci::LayerDigest& layer);
  // Makes a folder that was filled elsewhere, below UnpackingFolder, the layer's. kFailedPrecondition if somebody else
  // has filled the layer's own meanwhile.
  Result<std::shared_ptr<const Hold>> TakeOver(const oci::LayerDigest& layer, const std::string& filled);
  // What the folder of a held layer has is worth nothing: it starts anew, and CollectUnused deletes what it had.
  Status MakeEmpty(const oci::LayerDigest& layer);
  std::string UnpackingFolder() const { return paths_.state + "/layers/unpacking"; }
  // What is left in UnpackingFolder is to be collected.
  void DiscardUnpacking();
  bool IsHeld(const oci::LayerDigest& layer) const;

  // Deletes every folder that no one holds, and what earlier deletions left.
  void CollectUnused();

  // From now on nothing is deleted, and deletions under way end: the daemon stops, and its layers stay. What is left of
  // layers that were let go before lies where CollectUnused finds it.
  void KeepAll();

 private:
  void LetGo(const oci::LayerDigest& layer);
  void Delete(const std::string& path) const;
  // Renames the folder to a place that CollectUnused knows; the new path, or nothing if there was no folder.
  std::string MoveAway(const oci::LayerDigest& layer) SOCI_REQUIRES(mutex_);
  std::string MoveAway(const std::string& from) SOCI_REQUIRES(mutex_);
  std::string TrashFolder() const { return paths_.state + "/layers/gone"; }

  const StatePaths paths_;
  LayerNumbers numbers_;
  std::stop_source stop_;  // of deletions
  mutable Mutex mutex_;    // before that of numbers; held for one rename at most
  std::map<oci::LayerDigest, size_t> holders_ SOCI_GUARDED_BY(mutex_);
  bool keep_all_ SOCI_GUARDED_BY(mutex_) = false;
  uint64_t moved_ SOCI_GUARDED_BY(mutex_) = 0;
};

}  // namespace soci
