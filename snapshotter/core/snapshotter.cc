#include "snapshotter/core/snapshotter.h"

#include "indexer/base/log.h"
#include "snapshotter/core/recorded_container.h"
#include "snapshotter/overlay/disk_usage.h"
#include "snapshotter/pull/layer_provider.h"

namespace soci {

Snapshotter::Snapshotter(Metastore& metastore, LayerProvider& provider, Options options)
    : metastore_(metastore),
      provider_(provider),
      options_(std::move(options)),
      folders_(options_.state + "/snapshots"),
      links_(options_.run + "/l"),
      reserve_(options_.state + "/reserve"),
      lowers_(provider, folders_) {}

Result<std::vector<Mount>> Snapshotter::MountsOf(const SnapshotStack& stack, std::vector<std::string> lowers,
                                                 const LayerProvider::Directories& recorded) {
  const SnapshotFolder own = folders_.Of(stack.snapshot.id);
  for (size_t i = 0; i < lowers.size(); ++i) {
    if (auto directory = RecordedDirectory(stack.parents[i], recorded)) lowers[i] = *std::move(directory);
  }
  std::vector<Mount> mounts = MakeMounts(stack.snapshot.kind, own, lowers, options_.overlay);
  if (OptionBytes(mounts) < kComfortableOptionBytes) return mounts;
  for (size_t i = 0; i < lowers.size(); ++i) {
    // Links are shared by all containers over this parent; and these are short.
    if (RecordedDirectory(stack.parents[i], recorded)) continue;
    SOCI_ASSIGN_OR_RETURN(lowers[i], links_.To(stack.parents[i].id, lowers[i]));
  }
  return MakeMounts(stack.snapshot.kind, own, lowers, options_.overlay);
}

Result<std::vector<Mount>> Snapshotter::Mounts(const std::string& key) {
  SOCI_ASSIGN_OR_RETURN(SnapshotStack stack, metastore_.GetOpen(key));
  SOCI_ASSIGN_OR_RETURN(std::vector<std::string> lowers, lowers_.Of(stack.parents));
  const std::optional<std::string> recording = RecordingOf(stack.snapshot);
  if (!recording) return MountsOf(stack, std::move(lowers));
  return MountsOf(stack, std::move(lowers), provider_.RecordingDirectories(*recording, LayersOf(stack)));
}

Status Snapshotter::Commit(const std::string& name, const std::string& key, const Labels& labels) {
  SOCI_ASSIGN_OR_RETURN(Snapshot snapshot, metastore_.Stat(key));
  SnapshotUsage usage;
  if (snapshot.kind == SnapshotKind::kActive) {
    SOCI_ASSIGN_OR_RETURN(usage, DiskUsage(folders_.Of(snapshot.id).fs));
  }
  return metastore_.Commit(key, name, labels, usage).status();
}

Status Snapshotter::Remove(const std::string& key) {
  Result<Snapshot> found = metastore_.Remove(key);
  // A full disk must not keep what fills it.
  if (absl::IsResourceExhausted(found.status()) && reserve_.GiveUp()) found = metastore_.Remove(key);
  SOCI_ASSIGN_OR_RETURN(Snapshot removed, std::move(found));
  if (removed.remote()) {
    background_.Post([this, layer = removed.layer] {
      ReleaseIfUnused(layer);
      reserve_.Hold();
    });
    return OkStatus();
  }
  if (const std::optional<std::string> recording = RecordingOf(removed)) {
    background_.Post([this, name = *recording] { provider_.EndRecording(name); });
  }
  // The snapshot is gone whatever happens here; Cleanup finds the folder again.
  Result<std::string> moved = folders_.MoveAway(removed.id);
  if (moved.ok()) {
    DeleteLater(*moved);
  } else {
    log::Warning("snapshot {}: its folder stays for now: {}", key, Message(moved.status()));
  }
  return OkStatus();
}

Result<Snapshot> Snapshotter::Stat(const std::string& key) { return metastore_.Stat(key); }

Result<Snapshot> Snapshotter::Update(const std::string& name, const Labels& labels,
                                     const std::vector<std::string>& mask) {
  return metastore_.Update(name, labels, mask);
}

Result<std::vector<Snapshot>> Snapshotter::Walk(const std::vector<std::string>& filters) {
  SOCI_ASSIGN_OR_RETURN(SnapshotFilter filter, SnapshotFilter::Parse(filters));
  return metastore_.List(filter);
}

Result<SnapshotUsage> Snapshotter::Usage(const std::string& key) {
  SOCI_ASSIGN_OR_RETURN(Snapshot snapshot, metastore_.Stat(key));
  if (snapshot.kind == SnapshotKind::kActive) return DiskUsage(folders_.Of(snapshot.id).fs);
  if (!snapshot.remote()) return snapshot.usage;
  SOCI_ASSIGN_OR_RETURN(oci::LayerDigest layer, oci::LayerDigest::Parse(snapshot.layer));
  Result<LayerUsage> usage = provider_.Usage(layer);
  // A layer that could not be restored takes what it takes, but a kubelet that asks for all snapshots must get on.
  if (!usage.ok()) return SnapshotUsage{};
  return SnapshotUsage{usage->bytes, usage->inodes};
}

}  // namespace soci
