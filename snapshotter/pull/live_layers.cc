#include "snapshotter/pull/live_layers.h"

#include <fmt/format.h>
#include <sys/mount.h>
#include <unistd.h>

#include "indexer/base/log.h"
#include "snapshotter/pull/disk_usage.h"
#include "snapshotter/pull/layer_sync.h"
#include "snapshotter/pull/list_folder.h"
#include "snapshotter/pull/parallel_for.h"

namespace soci {
namespace {

// Sealing hashes on one core what was not hashed on the way, and renames; it does not wait for the disk.
constexpr size_t kSealingThreads = 2;
constexpr size_t kClosingThreads = 16;

Status NotLive(const oci::LayerDigest& layer) {
  return absl::NotFoundError(fmt::format("layer {} is not provided", layer.ToString()));
}

}  // namespace

LiveLayers::LiveLayers(const LiveLayer::Parts& parts, LayerFolders& folders, LayerSync& sync, Options options)
    : parts_(parts),
      folders_(folders),
      sync_(sync),
      paths_(folders.paths()),
      options_(options),
      numbers_(folders.numbers()),
      first_recording_mount_(FirstFreeRecordingMount(paths_)),
      next_recording_mount_(first_recording_mount_),
      restoring_(options_.restores),
      sealing_(std::make_unique<ThreadPool>("soci-seal", kSealingThreads)),
      seal_retries_(std::make_unique<SealRetries>([this](const oci::LayerDigest& layer) { SealLater(layer); },
                                                  options_.seal_retry)) {}

LiveLayers::~LiveLayers() {
  Stop();
  seal_retries_->Stop();
  sealing_.reset();
  settle_gate_->Close();
  std::map<oci::LayerDigest, std::shared_ptr<Slot>> gone;  // closing waits for callbacks, which take the lock
  {
    MutexLock lock(mutex_);
    gone.swap(slots_);
  }
  std::vector<LiveLayer*> layers;
  for (const auto& [layer, slot] : gone) {
    TellClosing(layer);
    slot->recordings.clear();
    if (slot->layer != nullptr) layers.push_back(slot->layer.get());
  }
  // Side by side, as each waits for its last reads.
  ParallelFor(layers.size(), kClosingThreads, [&](size_t i) { layers[i]->CloseFiles(); });
}

void LiveLayers::Stop() {
  folders_.KeepAll();
  MutexLock lock(mutex_);
  closing_ = true;
  for (const auto& [layer, slot] : slots_) {
    if (slot->layer != nullptr) slot->layer->StopFill();
  }
  for (const auto& [layer, slot] : slots_) {
    for (const auto& [recording, mount] : slot->recordings) mount->Detach();
    if (slot->layer != nullptr) slot->layer->Detach();
  }
}

std::shared_ptr<LiveLayers::Slot> LiveLayers::Claim(const oci::LayerDigest& layer, bool make) {
  MutexLock lock(mutex_);
  while (true) {
    auto found = slots_.find(layer);
    if (found == slots_.end()) {
      if (!make) return nullptr;
      found = slots_.emplace(layer, std::make_shared<Slot>()).first;
    }
    if (!found->second->busy) {
      found->second->busy = true;
      return found->second;
    }
    unclaimed_.Wait(mutex_);
  }
}

void LiveLayers::Unclaim(const oci::LayerDigest& layer, Slot& slot) {
  MutexLock lock(mutex_);
  slot.busy = false;
  if (slot.layer == nullptr) slots_.erase(layer);
  unclaimed_.NotifyAll();
}

Status LiveLayers::Open(const oci::LayerDigest& layer, const LayerOrigin& origin,
                        std::shared_ptr<const LayerFolders::Hold> hold, std::shared_ptr<const LayerTable> table) {
  if (IsLive(layer)) return OkStatus();
  {
    MutexLock lock(mutex_);
    if (closing_) return absl::UnavailableError("the daemon is stopping");
    if (condemned_.count({layer, origin.ztoc}) > 0) {
      return absl::FailedPreconditionError(fmt::format("zTOC {} was found to be false", origin.ztoc.ToString()));
    }
  }
  auto slot = Claim(layer, true);
  if (slot->layer != nullptr) {  // somebody was faster
    Unclaim(layer, *slot);
    return OkStatus();
  }
  auto opened = OpenAt(numbers_.Take(layer), layer, origin, std::move(hold), std::move(table));
  LiveLayer* live = opened.ok() ? opened->get() : nullptr;
  if (live != nullptr) {
    MutexLock lock(mutex_);
    slot->layer = *std::move(opened);
  }
  if (live != nullptr && options_.watch != nullptr) {
    if (auto watched = live->Watched()) options_.watch->LayerOpened(*watched);
  }
  if (live != nullptr) FillIfItFits(layer, *live);
  if (live != nullptr && live->unsettled()) SettleLater(layer);
  Unclaim(layer, *slot);
  return opened.status();
}

// The layer is claimed.
void LiveLayers::FillIfItFits(const oci::LayerDigest& layer, LiveLayer& live) {
  if (!options_.fill || live.sealed() || (live.kept_lazy() && restoring_)) return;
  if (live.KeepWhole()) live.StartFill([this, layer] { SealLater(layer); });
}

void LiveLayers::RestoreEnded() {
  restoring_ = false;
  FillWhatFits();
}

void LiveLayers::FillWhatFits() {
  std::vector<oci::LayerDigest> waiting;
  {
    MutexLock lock(mutex_);
    if (closing_ || !options_.fill) return;
    for (const auto& [layer, slot] : slots_) {
      if (slot->layer != nullptr && slot->layer->kept_lazy()) waiting.push_back(layer);
    }
  }
  for (const oci::LayerDigest& layer : waiting) {
    const auto slot = Claim(layer, false);
    if (slot == nullptr) continue;
    if (slot->layer != nullptr && slot->layer->kept_lazy()) FillIfItFits(layer, *slot->layer);
    Unclaim(layer, *slot);
  }
}

Result<std::unique_ptr<LiveLayer>> LiveLayers::OpenAt(uint32_t number, const oci::LayerDigest& layer,
                                                      LayerOrigin origin,
                                                      std::shared_ptr<const LayerFolders::Hold> hold,
                                                      std::shared_ptr<const LayerTable> table) {
  const LiveLayer::Place place{paths_.LayerFolder(layer), paths_.MountPoint(number), paths_.SealedLink(number)};
  if (origin.number != number) {
    origin.number = number;
    SOCI_RETURN_IF_ERROR(WriteOrigin(place.folder, origin));
  }
  return LiveLayer::Open(parts_, place, layer, origin, std::move(hold), std::move(table));
}

void LiveLayers::TellClosing(const oci::LayerDigest& layer) {
  if (options_.watch != nullptr) options_.watch->LayerClosing(layer);
}

bool LiveLayers::Close(const oci::LayerDigest& layer) {
  TellClosing(layer);
  {
    // At once, even if somebody works on the layer: a removed image must not cost bandwidth any more.
    MutexLock lock(mutex_);
    auto found = slots_.find(layer);
    if (found != slots_.end() && found->second->layer != nullptr) found->second->layer->StopFill();
  }
  auto slot = Claim(layer, false);
  if (slot == nullptr) return false;
  TellClosing(layer);  // it may have been opened meanwhile
  TakeRecordings(*slot).clear();
  std::unique_ptr<LiveLayer> gone;
  {
    MutexLock lock(mutex_);
    gone = std::move(slot->layer);
  }
  const bool was_live = gone != nullptr;
  seal_retries_->Forget(layer);
  // With the last to hold the folder the number is another layer's.
  if (was_live) ::unlink(paths_.SealedLink(numbers_.Take(layer)).c_str());
  if (was_live && !gone->condemned().ok()) {
    MutexLock lock(mutex_);
    condemned_.insert({layer, gone->origin().ztoc});
  }
  gone.reset();
  Unclaim(layer, *slot);
  if (was_live) FillWhatFits();
  return was_live;
}

bool LiveLayers::IsLive(const oci::LayerDigest& layer) const {
  MutexLock lock(mutex_);
  auto found = slots_.find(layer);
  return found != slots_.end() && found->second->layer != nullptr;
}

bool LiveLayers::IsCondemned(const oci::LayerDigest& layer) const {
  MutexLock lock(mutex_);
  auto found = slots_.find(layer);
  return found != slots_.end() && found->second->layer != nullptr && !found->second->layer->condemned().ok();
}

Result<std::string> LiveLayers::LowerDirectory(const oci::LayerDigest& layer) const {
  MutexLock lock(mutex_);
  auto found = slots_.find(layer);
  if (found == slots_.end() || found->second->layer == nullptr) return NotLive(layer);
  return found->second->layer->LowerDirectory();
}

Result<LayerUsage> LiveLayers::Usage(const oci::LayerDigest& layer) const {
  if (!IsLive(layer)) return NotLive(layer);
  return DiskUsage(paths_.LayerFolder(layer));
}

std::vector<LayerReport> LiveLayers::Report() const {
  std::vector<LayerReport> reports;
  MutexLock lock(mutex_);
  for (const auto& [layer, slot] : slots_) {
    if (slot->layer != nullptr) reports.push_back(slot->layer->Report());
  }
  return reports;
}

std::optional<LayerReport> LiveLayers::ReportOf(const oci::LayerDigest& layer) const {
  MutexLock lock(mutex_);
  auto found = slots_.find(layer);
  if (found == slots_.end() || found->second->layer == nullptr) return std::nullopt;
  return found->second->layer->Report();
}

void LiveLayers::SealLater(const oci::LayerDigest& layer) {
  MutexLock lock(mutex_);
  if (!closing_) sealing_->Post([this, layer] { Seal(layer); });
}

void LiveLayers::Seal(const oci::LayerDigest& layer) {
  auto slot = Claim(layer, false);
  if (slot == nullptr) return;
  Status sealed;
  if (slot->layer != nullptr && !slot->layer->sealed()) {
    sealed = slot->layer->Seal();
    if (sealed.ok()) {
      log::Info("layer {} is complete and sealed", layer.ToString());
      SettleLater(layer);
    } else if (absl::IsFailedPrecondition(sealed)) {
      log::Warning("layer {}: {}; fetching again", layer.ToString(), Message(sealed));
      slot->layer->StartFill([this, layer] { SealLater(layer); });
    } else if (!absl::IsCancelled(sealed) && !absl::IsDataLoss(sealed)) {  // the store reports data loss itself
      log::Error("layer {}: sealing: {}; it is tried again", layer.ToString(), Message(sealed));
      seal_retries_->Later(layer);
    }
    if (sealed.ok()) seal_retries_->Forget(layer);
  }
  Unclaim(layer, *slot);
  if (options_.seal_ended) options_.seal_ended(layer, sealed);
}

void LiveLayers::SettleLater(const oci::LayerDigest& layer) {
  sync_.Later([this, gate = settle_gate_, layer] {
    const OpenGate::Pass pass(*gate);
    if (pass) Settle(layer);
  });
}

void LiveLayers::Settle(const oci::LayerDigest& layer) {
  auto slot = Claim(layer, false);
  if (slot == nullptr) return;
  const Status settled = slot->layer == nullptr ? OkStatus() : slot->layer->Settle();
  Unclaim(layer, *slot);
  if (!settled.ok()) log::Warning("layer {}: {}", layer.ToString(), Message(settled));
}

void LiveLayers::CollectUnused() {
  CollectRecordingMounts();
  for (const std::string& name : ListFolder(paths_.run + "/m")) {
    auto number = NumberOf(name);
    if (!number || numbers_.IsTaken(*number)) continue;
    const std::string mount_point = paths_.MountPoint(*number);
    ::umount2(mount_point.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW);
    ::rmdir(mount_point.c_str());
  }
  for (const std::string& name : ListFolder(paths_.LinksFolder())) {
    auto number = NumberOf(name);
    if (number && !numbers_.IsTaken(*number)) ::unlink(paths_.SealedLink(*number).c_str());
  }
}

}  // namespace soci
