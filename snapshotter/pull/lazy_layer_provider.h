// The LayerProvider behind `serve`: labels -> request -> the image's session -> plan -> a live layer, or the reason
// why containerd has to do it.
//
// Any thread. Nothing here is remembered but the last deferrals; what is known lies with sessions and live layers.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "indexer/base/clock.h"
#include "indexer/base/mutex.h"
#include "snapshotter/pull/image_session.h"
#include "snapshotter/pull/layer_folders.h"
#include "snapshotter/pull/layer_provider.h"
#include "snapshotter/pull/live_layers.h"
#include "snapshotter/pull/recent_deferrals.h"
#include "snapshotter/replay/image_records.h"

namespace soci {

class LazyLayerProvider : public LayerProvider {
 public:
  // Borrows all; they outlive it. `records` may be missing.
  LazyLayerProvider(ImageSessions& sessions, LiveLayers& live, LayerFolders& folders, const Clock& clock,
                    ImageRecords* records = nullptr)
      : sessions_(sessions), live_(live), folders_(folders), records_(records), deferrals_(clock) {}

  Result<ProvideOutcome> Provide(const Labels& labels, const std::string& containerd_namespace,
                                 const std::stop_token& stop) override;
  Status Restore(const oci::LayerDigest& layer, const Labels& labels, RestoreFrom from) override;
  void ContainerPrepared(const std::vector<oci::LayerDigest>& layers, const Labels& labels) override;
  Result<Directories> BeginRecording(const std::string& recording,
                                     const std::vector<oci::LayerDigest>& layers) override;
  Directories RecordingDirectories(const std::string& recording, const std::vector<oci::LayerDigest>& layers) override;
  void EndRecording(const std::string& recording) override;
  Result<std::string> LowerDirectory(const oci::LayerDigest& layer) override;
  Result<LayerUsage> Usage(const oci::LayerDigest& layer) override;
  Status Release(const oci::LayerDigest& layer) override;
  void CollectUnused() override;

  std::vector<Deferral> Deferrals() const { return deferrals_.List(); }

 private:
  // The layer, live; or why it cannot be. `told`: the log has said so for the whole image.
  Result<oci::LayerDigest> MakeLive(const LayerRequest& request, const std::stop_token& stop = {},
                                    bool* told = nullptr);
  void LetGoUnrestored(const oci::LayerDigest& layer) SOCI_EXCLUDES(mutex_);
  LayerDeferred Defer(const Labels& labels, std::string reason);

  ImageSessions& sessions_;
  LiveLayers& live_;
  LayerFolders& folders_;
  ImageRecords* const records_;
  RecentDeferrals deferrals_;
  Mutex mutex_;  // a leaf
  // Folders of layers that could not be mounted again: their bytes must not go, a later try may succeed.
  std::map<oci::LayerDigest, std::shared_ptr<const LayerFolders::Hold>> unrestored_ SOCI_GUARDED_BY(mutex_);
};

}  // namespace soci
