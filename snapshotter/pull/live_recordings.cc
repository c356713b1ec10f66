// LiveLayers: the mounts of layers for containers that are recorded because somebody asked for it.
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>

#include "snapshotter/pull/list_folder.h"
#include "snapshotter/pull/live_layers.h"

namespace soci {
namespace {

constexpr uint32_t kMostMounts = 1 << 30;

std::optional<uint32_t> MountNumberOf(const std::string& name) {
  const std::optional<uint32_t> number = NumberOf(name);
  return number && *number <= kMostMounts ? number : std::nullopt;
}

}  // namespace

Result<WatchedLayer> LiveLayers::MountForRecording(const oci::LayerDigest& layer, const std::string& recording) {
  auto slot = Claim(layer, false);
  if (slot == nullptr) return absl::NotFoundError("layer " + layer.ToString() + " is not provided");
  Result<std::unique_ptr<RecordingMount>> made = absl::UnavailableError("the layer is being closed");
  if (slot->layer != nullptr) {
    made = slot->layer->MountForRecording(paths_.RecordingMountPoint(next_recording_mount_++));
  }
  Result<WatchedLayer> watched = made.ok() ? Result<WatchedLayer>((*made)->watched()) : made.status();
  std::unique_ptr<RecordingMount> refused;  // goes after the lock
  if (made.ok()) {
    MutexLock lock(mutex_);
    if (closing_ || slot->recordings.count(recording) > 0) {
      watched = absl::UnavailableError("the daemon is stopping, or the container was prepared twice");
      refused = *std::move(made);
    } else {
      slot->recordings.emplace(recording, *std::move(made));
    }
  }
  refused.reset();
  Unclaim(layer, *slot);
  return watched;
}

std::optional<std::string> LiveLayers::RecordingDirectory(const oci::LayerDigest& layer,
                                                          const std::string& recording) const {
  MutexLock lock(mutex_);
  const auto found = slots_.find(layer);
  if (found == slots_.end()) return std::nullopt;
  const auto mount = found->second->recordings.find(recording);
  if (mount == found->second->recordings.end()) return std::nullopt;
  return mount->second->mount_point();
}

void LiveLayers::UnmountRecording(const std::string& recording) {
  std::vector<oci::LayerDigest> layers;
  {
    MutexLock lock(mutex_);
    for (const auto& [layer, slot] : slots_) {
      if (slot->recordings.count(recording) > 0) layers.push_back(layer);
    }
  }
  for (const oci::LayerDigest& layer : layers) {
    auto slot = Claim(layer, false);  // the layer must not go first
    if (slot == nullptr) continue;
    std::unique_ptr<RecordingMount> gone;
    {
      MutexLock lock(mutex_);
      const auto mount = slot->recordings.find(recording);
      if (mount != slot->recordings.end()) {
        gone = std::move(mount->second);
        slot->recordings.erase(mount);
      }
    }
    gone.reset();
    Unclaim(layer, *slot);
  }
}

LiveLayers::Recordings LiveLayers::TakeRecordings(Slot& slot) {
  Recordings taken;
  MutexLock lock(mutex_);
  taken.swap(slot.recordings);
  return taken;
}

uint32_t LiveLayers::FirstFreeRecordingMount(const StatePaths& paths) {
  uint32_t first = 0;
  for (const std::string& name : ListFolder(paths.RecordingsFolder())) {
    const std::optional<uint32_t> number = MountNumberOf(name);
    if (number) first = std::max(first, *number + 1);
  }
  return first;
}

// What a daemon that was killed left: mounts of our own may be in the making.
void LiveLayers::CollectRecordingMounts() {
  for (const std::string& name : ListFolder(paths_.RecordingsFolder())) {
    const std::optional<uint32_t> number = MountNumberOf(name);
    if (!number || *number >= first_recording_mount_) continue;
    const std::string mount_point = paths_.RecordingMountPoint(*number);
    ::umount2(mount_point.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW);
    ::rmdir(mount_point.c_str());
  }
}

}  // namespace soci
