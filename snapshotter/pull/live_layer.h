// One layer that we provide: its table, its bytes on disk, what fetches the rest, and its mount.
//
// Opened from the layer's folder without network. Once sealed it is only a directory; a mount that was made before goes
// on until the layer is closed, because containers may hold it. The destructor stops fetching and unmounts; files stay.
// LowerDirectory, Report and StopFill may be called from any thread, Seal and the destructor from one at a time.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "fuse/fetch/make_layer_fetcher.h"
#include "fuse/layer/layer_reader.h"
#include "fuse/layer/read_ahead.h"
#include "fuse/session/mounter.h"
#include "indexer/base/byte_source.h"
#include "snapshotter/pull/layer_folders.h"
#include "snapshotter/pull/layer_origin.h"
#include "snapshotter/pull/layer_report.h"
#include "snapshotter/pull/recording_mount.h"
#include "snapshotter/replay/watched_layer.h"

namespace soci {

class CacheLimit;
class FdCache;
class FetchScheduler;
class LayerStore;
class LayerTable;
class ProgramClock;
class RegistryClient;
class ThreadPool;

class LiveLayer {
 public:
  // What all layers share; outlives them.
  struct Parts {
    RegistryClient& registry;
    FetchScheduler& scheduler;
    Mounter& mounter;
    FdCache& files;
    ThreadPool& io;             // for reads that have to wait for the disk
    LayerFetcherOptions fetch;  // but for the host and the decoder
    ReadAheadOptions read_ahead = {};
    ProgramClock* program_clock = nullptr;  // may be missing
    CacheLimit* cache_limit = nullptr;      // on what layers keep that are lazy or were; may be missing
  };
  struct Place {
    std::string folder;       // table, bytes, sealed tree
    std::string mount_point;  // while it is not sealed
    std::string sealed_link;  // the short name of the sealed tree; empty: none is wanted
  };

  // kDataLoss or kFailedPrecondition if the folder is of no use. `table`: the folder's, if the caller has opened it.
  static Result<std::unique_ptr<LiveLayer>> Open(const Parts& parts, const Place& place, const oci::LayerDigest& layer,
                                                 const LayerOrigin& origin,
                                                 std::shared_ptr<const LayerFolders::Hold> hold,
                                                 std::shared_ptr<const LayerTable> table = nullptr);
  ~LiveLayer();
  LiveLayer(const LiveLayer&) = delete;

  // Whether there is room for the whole layer, which it has from then on; without a limit there is. Only then may it be
  // filled. One caller at a time.
  bool KeepWhole();

  // Fetches what is missing; `complete` is called once, from some thread, when all is here.
  void StartFill(std::function<void()> complete);
  void StopFill();

  // Verifies the whole layer and makes it an ordinary directory. kDataLoss condemns it; kFailedPrecondition: bytes on
  // disk were damaged, fetch them and try again. StopFill ends it with kCancelled.
  Status Seal();

  // Takes the mount out of the file system at once; to be followed by CloseFiles or the destructor.
  void Detach();

  // The orderly end of a layer that stays: unmounts, and says on disk that what is there needs no checks.
  void CloseFiles();

  // Sealed, but perhaps not on the disk.
  bool unsettled() const;
  // The file system was synced since Seal. Not beside it.
  Status Settle();

  // The limit keeps it lazy, for now.
  bool kept_lazy() const;
  bool sealed() const { return linked_.load(std::memory_order_acquire); }
  // Why its bytes may not be used any more, or ok.
  Status condemned() const;
  const LayerOrigin& origin() const { return origin_; }
  // For who records and replays; nothing if it was sealed when it was opened.
  std::optional<WatchedLayer> Watched() const;
  std::string LowerDirectory() const;
  // Once more, sealed or not, at a place of its own; to be dropped before this is closed. Not beside Seal.
  Result<std::unique_ptr<RecordingMount>> MountForRecording(const std::string& mount_point);
  LayerReport Report() const;

 private:
  LiveLayer(const Parts& parts, const Place& place, const oci::LayerDigest& layer, const LayerOrigin& origin,
            std::shared_ptr<const LayerFolders::Hold> hold);
  Status OpenFiles();
  Status Mount();
  void Unmount();
  Status LinkSealed();

  const Parts& parts_;
  const Place place_;
  const oci::LayerDigest layer_;
  const LayerOrigin origin_;
  const std::shared_ptr<const LayerFolders::Hold> hold_;

  // In order of dependence: each is used by those after it, and gone before those in front of it.
  std::shared_ptr<const LayerTable> table_;
  std::unique_ptr<LayerStore> store_;
  std::unique_ptr<ByteSource> source_;
  std::unique_ptr<LayerFetcher> fetcher_;
  std::unique_ptr<FirstReads> first_reads_;
  std::unique_ptr<LayerReader> reader_;
  std::unique_ptr<MountHandle> mount_;
  std::stop_source stop_;
  std::atomic<bool> linked_ = false;  // sealed, and the link leads there
};

}  // namespace soci
