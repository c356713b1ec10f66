// LiveLayers: layers that are fetched before they are mounted, and may never be.
#include <utility>

#include "indexer/base/log.h"
#include "snapshotter/pull/live_layers.h"
#include "snapshotter/pull/prepare_layer.h"

namespace soci {

class LiveLayers::EarlyWish {
 public:
  EarlyWish(LiveLayers& layers, oci::LayerDigest layer, uint64_t id)
      : gate_(layers.early_gate_), layers_(layers), layer_(std::move(layer)), id_(id) {}
  ~EarlyWish() {
    const OpenGate::Pass pass(*gate_);
    if (pass) layers_.DropEarly(layer_, id_);
  }
  EarlyWish(const EarlyWish&) = delete;
  EarlyWish& operator=(const EarlyWish&) = delete;

 private:
  const std::shared_ptr<OpenGate> gate_;
  LiveLayers& layers_;  // there while the gate is open
  const oci::LayerDigest layer_;
  const uint64_t id_;
};

std::shared_ptr<const void> LiveLayers::OpenEarly(const oci::LayerDigest& layer, const LayerOrigin& origin,
                                                  std::shared_ptr<const LayerFolders::Hold> hold,
                                                  std::shared_ptr<const LayerTable> table) {
  if (options_.watch == nullptr || IsLive(layer) || IsSealed(paths_.LayerFolder(layer))) return nullptr;
  auto slot = Claim(layer, true);
  std::shared_ptr<const void> wish;
  bool is_there = false;
  {
    MutexLock lock(mutex_);
    const bool refused = closing_ || slot->layer != nullptr || condemned_.count({layer, origin.ztoc}) > 0;
    is_there = slot->early != nullptr;
    if (!refused) wish = slot->early_wanted.lock();
    if (!refused && wish == nullptr) {
      slot->early_id = ++early_wishes_;
      wish = std::make_shared<const EarlyWish>(*this, layer, slot->early_id);
      slot->early_wanted = wish;
    }
  }
  if (wish != nullptr && !is_there) {
    auto opened = OpenAt(numbers_.Take(layer), layer, origin, std::move(hold), std::move(table));
    if (opened.ok()) {
      TellOpened(**opened);
      MutexLock lock(mutex_);
      slot->early = *std::move(opened);
    } else {
      log::Debug("layer {} is not fetched early: {}", layer.ToString(), Message(opened.status()));
    }
  }
  Unclaim(layer, *slot);
  return wish;
}

std::unique_ptr<LiveLayer> LiveLayers::TakeEarly(Slot& slot, const LayerOrigin& origin) {
  std::unique_ptr<LiveLayer> early;
  {
    MutexLock lock(mutex_);
    early = std::move(slot.early);
  }
  if (early == nullptr || early->origin().ztoc == origin.ztoc) return early;
  TellClosing(early->layer());
  return nullptr;
}

void LiveLayers::DropEarly(const oci::LayerDigest& layer, uint64_t id) {
  const auto is_his = [id](const Slot& slot) { return slot.early != nullptr && slot.early_id == id; };
  {
    // Whoever mounts it at this moment has taken it already, and is not waited for.
    MutexLock lock(mutex_);
    const auto found = slots_.find(layer);
    if (found == slots_.end() || !is_his(*found->second)) return;
  }
  auto slot = Claim(layer, false);
  if (slot == nullptr) return;
  std::unique_ptr<LiveLayer> gone;
  {
    MutexLock lock(mutex_);
    if (is_his(*slot)) gone = std::move(slot->early);
  }
  if (gone != nullptr) {
    TellClosing(layer);
    gone->CloseFiles();
    gone.reset();
  }
  Unclaim(layer, *slot);
}

}  // namespace soci
