// All layers that are provided now, by digest: opened once however many snapshots, images and namespaces share them.
//
// Any thread. Work on one layer (opening, sealing, closing) is done by one thread at a time and never under the lock;
// looking things up never waits for it.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fuse/layer/open_gate.h"
#include "indexer/base/mutex.h"
#include "indexer/base/thread_pool.h"
#include "snapshotter/pull/layer_numbers.h"
#include "snapshotter/pull/layer_provider.h"
#include "snapshotter/pull/live_layer.h"
#include "snapshotter/pull/seal_retries.h"

namespace soci {

class LayerSync;

class LiveLayers {
 public:
  struct Options {
    bool fill = true;
    // Told, on the sealing thread, when the attempt to seal a layer is over; may be empty.
    std::function<void(const oci::LayerDigest&, const Status&)> seal_ended = {};
    LayerWatch* watch = nullptr;  // told of every layer that is opened unsealed; may be missing
    SealRetries::Delay seal_retry = {};
    // Layers that were there before are opened first, in any order: as long as RestoreEnded was not called none is
    // filled under a cache limit, as room has to be found for those that are sealed.
    bool restores = false;
  };

  // Borrows folders and sync.
  LiveLayers(const LiveLayer::Parts& parts, LayerFolders& folders, LayerSync& sync, Options options);
  // As Stop; then closes every layer. Files stay.
  ~LiveLayers();

  // The daemon stops: nothing is opened, filled or sealed any more, and no mount is in sight when it returns. Quick,
  // whatever the layers are doing.
  void Stop();

  // Mounts the layer from its folder (or takes it as sealed) and starts to fill it, if it may be kept whole. Does
  // nothing if it is live. kFailedPrecondition if its zTOC was found to be false before. `table`: the folder's, if the
  // caller has opened it.
  Status Open(const oci::LayerDigest& layer, const LayerOrigin& origin, std::shared_ptr<const LayerFolders::Hold> hold,
              std::shared_ptr<const LayerTable> table = nullptr);
  // All layers that were there before are open: fills those that find room.
  void RestoreEnded();

  // Stops fill, unmounts and lets the folder go; another layer may find room then. False if the layer was not live.
  bool Close(const oci::LayerDigest& layer);

  // Mounts the layer once more, for the container of one recording; what can be listened to there. Waits while the
  // layer is being sealed. kNotFound if it is not live.
  Result<WatchedLayer> MountForRecording(const oci::LayerDigest& layer, const std::string& recording);
  std::optional<std::string> RecordingDirectory(const oci::LayerDigest& layer, const std::string& recording) const;
  // Takes the mounts of one recording away again; nobody listens there any more.
  void UnmountRecording(const std::string& recording);

  bool IsLive(const oci::LayerDigest& layer) const;
  bool IsCondemned(const oci::LayerDigest& layer) const;
  Result<std::string> LowerDirectory(const oci::LayerDigest& layer) const;
  Result<LayerUsage> Usage(const oci::LayerDigest& layer) const;
  std::vector<LayerReport> Report() const;
  std::optional<LayerReport> ReportOf(const oci::LayerDigest& layer) const;

  // Removes mount points and links of layers that are not there any more.
  void CollectUnused();

 private:
  using Recordings = std::map<std::string, std::unique_ptr<RecordingMount>>;
  struct Slot {
    bool busy = false;
    std::unique_ptr<LiveLayer> layer;  // null while it is being opened or closed
    // By the recording's name. They use the layer, so they are gone before it is.
    Recordings recordings;
  };

  // Waits until nobody works on the layer, then it is ours to work on. Gives null if there is none and `make` is false.
  std::shared_ptr<Slot> Claim(const oci::LayerDigest& layer, bool make) SOCI_EXCLUDES(mutex_);
  void Unclaim(const oci::LayerDigest& layer, Slot& slot) SOCI_EXCLUDES(mutex_);
  Result<std::unique_ptr<LiveLayer>> OpenAt(uint32_t number, const oci::LayerDigest& layer, LayerOrigin origin,
                                            std::shared_ptr<const LayerFolders::Hold> hold,
                                            std::shared_ptr<const LayerTable> table);
  void TellClosing(const oci::LayerDigest& layer) SOCI_EXCLUDES(mutex_);
  Recordings TakeRecordings(Slot& slot) SOCI_EXCLUDES(mutex_);
  static uint32_t FirstFreeRecordingMount(const StatePaths& paths);
  void CollectRecordingMounts();
  void FillIfItFits(const oci::LayerDigest& layer, LiveLayer& live);
  void FillWhatFits();
  void SealLater(const oci::LayerDigest& layer);
  void Seal(const oci::LayerDigest& layer);
  void SettleLater(const oci::LayerDigest& layer);
  void Settle(const oci::LayerDigest& layer);

  const LiveLayer::Parts parts_;
  LayerFolders& folders_;
  LayerSync& sync_;
  const StatePaths& paths_;
  const Options options_;
  LayerNumbers& numbers_;
  const uint32_t first_recording_mount_;  // those before it are an earlier process's
  std::atomic<uint32_t> next_recording_mount_;

  std::atomic<bool> restoring_;
  const std::shared_ptr<OpenGate> settle_gate_ = std::make_shared<OpenGate>();  // closed when this goes

  mutable Mutex mutex_;  // before the leaves of layers and numbers
  CondVar unclaimed_;
  std::map<oci::LayerDigest, std::shared_ptr<Slot>> slots_ SOCI_GUARDED_BY(mutex_);
  std::set<std::pair<oci::LayerDigest, oci::Digest>> condemned_ SOCI_GUARDED_BY(mutex_);  // with their zTOC
  bool closing_ SOCI_GUARDED_BY(mutex_) = false;
  std::unique_ptr<ThreadPool> sealing_;
  std::unique_ptr<SealRetries> seal_retries_;  // posts to it
};

}  // namespace soci
