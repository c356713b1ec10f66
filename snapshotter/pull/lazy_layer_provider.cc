#include "snapshotter/pull/lazy_layer_provider.h"

#include <fmt/format.h>

#include <chrono>
#include <set>

#include "indexer/base/log.h"
#include "indexer/oci/annotations.h"
#include "snapshotter/pull/plan.h"
#include "snapshotter/pull/prepare_layer.h"
#include "snapshotter/unpack/unsynced_mark.h"

namespace soci {
namespace {

// An image whose pull was given up is forgotten after this time; a slow pull asks more often.
constexpr auto kIdleSession = std::chrono::minutes(10);

std::string LabelOr(const Labels& labels, std::string_view key) {
  auto found = labels.find(std::string(key));
  return found == labels.end() ? "" : found->second;
}

Labels RemoteLabels(const std::string& containerd_namespace, bool unpacked) {
  Labels labels{{std::string(oci::kLabelRemote), "remote snapshot"},
                {std::string(oci::kLabelRemoteNamespace), containerd_namespace}};
  if (!unpacked) labels[std::string(oci::kLabelHasSociIndex)] = "true";
  return labels;
}

Status Condemned() {
  return absl::FailedPreconditionError(
      "its SOCI index was found to be false; remove the image and pull it again, containerd unpacks the layer then");
}

}  // namespace

Result<ProvideOutcome> LazyLayerProvider::Provide(const Labels& labels, const std::string& containerd_namespace,
                                                  const std::stop_token& stop) {
  auto read = ReadLayerRequest(labels);
  if (auto* refused = std::get_if<RequestRefused>(&read)) return ProvideOutcome(Defer(labels, refused->reason));
  bool told = false;
  auto layer = MakeLive(std::get<LayerRequest>(read), stop, &told);
  if (stop.stop_requested()) return absl::CancelledError("nobody waits for the layer any more");
  if (!layer.ok()) {
    LayerDeferred deferred = Defer(labels, std::string(Message(layer.status())));
    deferred.told = told;
    return ProvideOutcome(std::move(deferred));
  }
  const std::optional<LayerReport> report = live_.ReportOf(*layer);
  const bool unpacked = report && report->unpacked;
  const bool lazy = report && report->state != LayerState::kSealed;
  return ProvideOutcome(LayerProvided{*layer, lazy, RemoteLabels(containerd_namespace, unpacked)});
}

Result<oci::LayerDigest> LazyLayerProvider::MakeLive(const LayerRequest& request, const std::stop_token& stop,
                                                     bool* told) {
  if (records_ != nullptr) records_->Want(request.image, request.manifest);
  if (live_.IsCondemned(request.layer)) {
    return Condemned();
  }
  if (live_.IsLive(request.layer)) return request.layer;  // of another image, or another namespace

  SOCI_ASSIGN_OR_RETURN(auto image, sessions_.Get(request));
  auto found = image->layers.find(request.layer);
  const PreparedLayer* prepared = found == image->layers.end() ? nullptr : &found->second;
  const LayerSituation situation{true, image->soci_index.has_value(), prepared != nullptr && prepared->origin,
                                 prepared != nullptr && prepared->unpack != nullptr};
  for (Attempt attempt : PlanLayer(situation)) {
    if (attempt == Attempt::kDefer) break;
    if (attempt == Attempt::kUnpack) {
      auto waited = prepared->unpack->Wait(stop);
      if (stop.stop_requested()) {
        sessions_.Forget(*image);
        return absl::CancelledError("nobody waits for the layer any more");
      }
      SOCI_ASSIGN_OR_RETURN(const LayerUnpacks::Unpacked unpacked, std::move(waited));
      if (Status opened = live_.Open(request.layer, unpacked.origin, unpacked.hold); !opened.ok()) {
        return Annotate(opened, "opening what was unpacked");
      }
      return request.layer;
    }
    if (Status opened = live_.Open(request.layer, *prepared->origin, prepared->hold, prepared->table); !opened.ok()) {
      return Annotate(opened, "mounting");
    }
    if (live_.IsCondemned(request.layer)) {  // an earlier process found it out
      live_.Close(request.layer);
      return Condemned();
    }
    return request.layer;
  }
  if (told != nullptr) *told = !situation.has_index;
  if (!situation.has_index) return absl::NotFoundError(image->reason);
  if (prepared == nullptr) {
    return absl::NotFoundError(fmt::format("manifest {} has no such layer", request.manifest.ToString()));
  }
  return absl::NotFoundError(prepared->reason);
}

LayerDeferred LazyLayerProvider::Defer(const Labels& labels, std::string reason) {
  std::string layer = LabelOr(labels, oci::kLabelLayerDigest);
  if (layer.empty()) layer = LabelOr(labels, oci::kLabelSnapshotRef);
  deferrals_.Add(LabelOr(labels, oci::kLabelImageRef), std::move(layer), reason);
  return {std::move(reason), false};
}

Status LazyLayerProvider::Restore(const oci::LayerDigest& layer, const Labels& labels, RestoreFrom from) {
  if (live_.IsLive(layer)) return OkStatus();
  SOCI_ASSIGN_OR_RETURN(auto hold, folders_.Take(layer));
  {
    MutexLock lock(mutex_);
    unrestored_[layer] = hold;
  }
  // Its files may be many: they are not deleted while somebody waits.
  const std::string folder = folders_.paths().LayerFolder(layer);
  if (from == RestoreFrom::kDisk && ReadUnsyncedMark(folder) == UnsyncedMark::kOfAnotherBoot) {
    SOCI_RETURN_IF_ERROR(folders_.MakeEmpty(layer));
  }
  Status restored;
  auto ready = AdoptLayer(layer, folder);
  if (ready.ok()) {
    restored = live_.Open(layer, ready->origin, hold, std::move(ready->table));
  } else if (from == RestoreFrom::kDisk) {
    restored = absl::UnavailableError(std::string(Message(ready.status())));
  } else {
    // What is on disk is of no use. The labels still say where the layer comes from.
    auto read = ReadLayerRequest(labels);
    auto* request = std::get_if<LayerRequest>(&read);
    restored = request == nullptr ? ready.status() : MakeLive(*request).status();
  }
  if (restored.ok()) LetGoUnrestored(layer);
  return restored;
}

void LazyLayerProvider::LetGoUnrestored(const oci::LayerDigest& layer) {
  std::shared_ptr<const LayerFolders::Hold> gone;  // after the lock: the folder may go with it
  MutexLock lock(mutex_);
  auto found = unrestored_.find(layer);
  if (found == unrestored_.end()) return;
  gone = std::move(found->second);
  unrestored_.erase(found);
}

void LazyLayerProvider::ContainerPrepared(const std::vector<oci::LayerDigest>& layers, const Labels& labels) {
  if (records_ == nullptr) return;
  auto read = ReadLayerRequest(labels);
  const auto* request = std::get_if<LayerRequest>(&read);
  if (request == nullptr) return;
  records_->ContainerPrepared(request->image, {request->image.ToString(), request->manifest, layers});
}

Result<LayerProvider::Directories> LazyLayerProvider::BeginRecording(const std::string& recording,
                                                                     const std::vector<oci::LayerDigest>& layers) {
  if (records_ == nullptr) return LayerProvider::BeginRecording(recording, layers);
  if (layers.empty()) {
    return absl::FailedPreconditionError("none of the image's layers is ours: what is read of them cannot be seen");
  }
  SOCI_RETURN_IF_ERROR(records_->ClaimRecording(recording));
  std::vector<WatchedLayer> watched;
  for (const oci::LayerDigest& layer : std::set<oci::LayerDigest>(layers.begin(), layers.end())) {
    Result<WatchedLayer> mounted = live_.MountForRecording(layer, recording);
    if (!mounted.ok()) {
      live_.UnmountRecording(recording);
      return Annotate(mounted.status(), "mounting layer " + layer.ToString() + " to record what is read of it");
    }
    watched.push_back(*std::move(mounted));
  }
  if (Status begun = records_->BeginRecording(recording, layers, watched); !begun.ok()) {
    live_.UnmountRecording(recording);
    return begun;
  }
  return RecordingDirectories(recording, layers);
}

LayerProvider::Directories LazyLayerProvider::RecordingDirectories(const std::string& recording,
                                                                   const std::vector<oci::LayerDigest>& layers) {
  Directories directories;
  for (const oci::LayerDigest& layer : layers) {
    if (auto directory = live_.RecordingDirectory(layer, recording)) directories[layer] = *std::move(directory);
  }
  return directories;
}

void LazyLayerProvider::EndRecording(const std::string& recording) {
  if (records_ != nullptr) records_->FinishRecording(recording);
  live_.UnmountRecording(recording);
}

Result<std::string> LazyLayerProvider::LowerDirectory(const oci::LayerDigest& layer) {
  // Whoever has it mounted goes on as it can; nobody new gets a file system that answers with EIO.
  if (live_.IsCondemned(layer)) return Condemned();
  return live_.LowerDirectory(layer);
}

Result<LayerUsage> LazyLayerProvider::Usage(const oci::LayerDigest& layer) { return live_.Usage(layer); }

Status LazyLayerProvider::Release(const oci::LayerDigest& layer) {
  // A layer that was deferred is released too; what is known of its image is still needed then.
  if (live_.Close(layer)) sessions_.Forget(layer);
  LetGoUnrestored(layer);
  return OkStatus();
}

void LazyLayerProvider::CollectUnused() {
  sessions_.ForgetIdle(kIdleSession, [this](const oci::LayerDigest& layer) { return live_.IsLive(layer); });
  folders_.CollectUnused();
  live_.CollectUnused();
}

}  // namespace soci
