// Small numbers for layers: the names of their mount points and sealed links, short because 127 of them have to fit one
// page of mount options.
//
// A layer keeps its number while its folder is there, also over a restart: at the first use the numbers of all folders
// are read. Any thread.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "indexer/base/mutex.h"
#include "snapshotter/pull/state_paths.h"

namespace soci {

class LayerNumbers {
 public:
  explicit LayerNumbers(StatePaths paths) : paths_(std::move(paths)) {}

  // The layer's number, the lowest free one if it has none yet.
  uint32_t Take(const oci::LayerDigest& layer);
  void Free(const oci::LayerDigest& layer);
  bool IsTaken(uint32_t number);

 private:
  void Load() SOCI_REQUIRES(mutex_);

  const StatePaths paths_;
  Mutex mutex_;  // a leaf
  bool loaded_ SOCI_GUARDED_BY(mutex_) = false;
  std::map<oci::LayerDigest, uint32_t> numbers_ SOCI_GUARDED_BY(mutex_);
  std::set<uint32_t> taken_ SOCI_GUARDED_BY(mutex_);
};

}  // namespace soci
