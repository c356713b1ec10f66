#include "snapshotter/pull/layer_numbers.h"

#include "snapshotter/pull/layer_origin.h"
#include "snapshotter/pull/list_folder.h"

namespace soci {

void LayerNumbers::Load() {
  if (std::exchange(loaded_, true)) return;
  for (const std::string& name : ListFolder(paths_.LayersFolder())) {
    auto layer = oci::LayerDigest::Parse("sha256:" + name);
    if (!layer.ok()) continue;
    auto origin = ReadOrigin(paths_.LayerFolder(*layer));
    // A number that two folders claim (a copied state directory) belongs to the first; the other gets a new one.
    if (!origin.ok() || origin->number == 0 || !taken_.insert(origin->number).second) continue;
    numbers_[*layer] = origin->number;
  }
}

uint32_t LayerNumbers::Take(const oci::LayerDigest& layer) {
  MutexLock lock(mutex_);
  Load();
  auto [place, is_new] = numbers_.try_emplace(layer, 0);
  if (!is_new) return place->second;
  uint32_t number = 1;
  for (uint32_t taken : taken_) {  // sorted: the first gap
    if (taken != number) break;
    ++number;
  }
  taken_.insert(number);
  return place->second = number;
}

void LayerNumbers::Free(const oci::LayerDigest& layer) {
  MutexLock lock(mutex_);
  Load();
  auto found = numbers_.find(layer);
  if (found == numbers_.end()) return;
  taken_.erase(found->second);
  numbers_.erase(found);
}

bool LayerNumbers::IsTaken(uint32_t number) {
  MutexLock lock(mutex_);
  Load();
  return taken_.count(number) > 0;
}

}  // namespace soci
