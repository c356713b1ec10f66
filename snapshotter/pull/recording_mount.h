// A layer mounted once more, for one container that is recorded because somebody asked for it.
//
// Such a mount begins without a page of the layer in the kernel's cache and nobody else reads through it, so that all
// the container reads is heard of, and nothing else; a sealed layer is read from its directory. The destructor
// unmounts; nobody listens any more by then. One thread at a time, but for Detach and mount_point.
#pragma once

#include <memory>
#include <string>

#include "fuse/layer/first_reads.h"
#include "fuse/layer/layer_reader.h"
#include "fuse/layer/read_ahead.h"
#include "fuse/session/mounter.h"
#include "indexer/oci/digest.h"
#include "snapshotter/replay/watched_layer.h"

namespace soci {

class BackingStore;
class LayerFetcher;
class LayerTable;
class ProgramClock;
class ThreadPool;

class RecordingMount {
 public:
  struct Layer {
    oci::LayerDigest digest;
    std::shared_ptr<const LayerTable> table;
    BackingStore& store;
    LayerFetcher* fetcher = nullptr;  // none: everything is in the store
  };
  struct Parts {
    Mounter& mounter;
    ThreadPool& io;
    ReadAheadOptions read_ahead = {};
    ProgramClock* program_clock = nullptr;  // may be missing
  };

  // What is passed by reference outlives it.
  static Result<std::unique_ptr<RecordingMount>> Make(const Layer& layer, const Parts& parts,
                                                      const std::string& mount_point);
  ~RecordingMount();

  WatchedLayer watched() { return {digest_, table_, &store_, &fetcher(), &first_reads_}; }
  const std::string& mount_point() const { return mount_->mount_point(); }
  void Detach() { mount_->Detach(); }

 private:
  explicit RecordingMount(const Layer& layer);
  LayerFetcher& fetcher() { return own_fetcher_ != nullptr ? *own_fetcher_ : *fetcher_; }

  const oci::LayerDigest digest_;
  const std::shared_ptr<const LayerTable> table_;
  BackingStore& store_;
  LayerFetcher* const fetcher_;

  // In order of dependence.
  std::unique_ptr<LayerFetcher> own_fetcher_;
  FirstReads first_reads_;
  std::unique_ptr<LayerReader> reader_;
  std::unique_ptr<MountHandle> mount_;
};

}  // namespace soci
