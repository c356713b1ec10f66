// Prepare and View: the ordinary way, and the remote one.
#include <fmt/format.h>

#include <algorithm>

#include "indexer/base/log.h"
#include "indexer/oci/annotations.h"
#include "snapshotter/core/recorded_container.h"
#include "snapshotter/core/snapshotter.h"
#include "snapshotter/pull/layer_provider.h"

namespace soci {
namespace {

std::string LabelOr(const Labels& labels, std::string_view key, const std::string& otherwise) {
  const auto found = labels.find(std::string(key));
  return found == labels.end() ? otherwise : found->second;
}

Labels RemoteLabels(const Labels& asked, const Labels& extra, const std::string& containerd_namespace) {
  Labels labels = asked;
  labels[std::string(oci::kLabelRemote)] = oci::kLabelRemoteValue;
  labels[std::string(oci::kLabelRemoteNamespace)] = containerd_namespace;
  for (const auto& [key, value] : extra) labels[key] = value;
  return labels;
}

// containerd's clients name the snapshot into which they unpack a layer like this, below namespace and number.
bool IsUnpacking(const std::string& key) { return key.find("/extract-") != std::string::npos; }

}  // namespace

// Tells the user of a client that sends no labels why nothing is lazy; containerd goes on as it would without us.
void Snapshotter::ExplainMissingLabels(const std::string& key, const Labels& labels,
                                       const std::string& containerd_namespace) {
  if (labels.count(std::string(oci::kLabelImageRef)) > 0) return;
  const Result<ProvideOutcome> outcome = provider_.Provide(labels, containerd_namespace, {});
  const LayerDeferred* deferred = outcome.ok() ? std::get_if<LayerDeferred>(&*outcome) : nullptr;
  if (deferred != nullptr) log::Info("snapshot {} is left to containerd: {}", key, deferred->reason);
}

Result<std::vector<Mount>> Snapshotter::View(const std::string& key, const std::string& parent, const Labels& labels) {
  return Create(SnapshotKind::kView, key, parent, labels);
}

Result<std::vector<Mount>> Snapshotter::Prepare(const std::string& key, const std::string& parent, const Labels& labels,
                                                const std::string& containerd_namespace, const std::stop_token& stop) {
  const std::string target = LabelOr(labels, oci::kLabelSnapshotRef, "");
  if (target.empty()) {
    if (IsUnpacking(key)) ExplainMissingLabels(key, labels, containerd_namespace);
    return Create(SnapshotKind::kActive, key, parent, labels);
  }
  SOCI_RETURN_IF_ERROR(metastore_.CheckCreate(key, parent));
  const Result<Deferral> deferral = PrepareRemote(target, parent, labels, containerd_namespace, stop);
  if (deferral.ok() && !*deferral) {
    return absl::AlreadyExistsError(fmt::format("target snapshot {} already exists", target));
  }
  if (stop.stop_requested()) return absl::CancelledError(fmt::format("preparing {}: whoever wanted it has gone", key));
  // Not an error: containerd fetches and unpacks this layer as it would without us.
  const bool told = deferral.ok() && (*deferral)->told;
  const log::Level level = told ? log::Level::kDebug : log::Level::kInfo;
  if (log::Enabled(level)) {
    log::Write(level,
               fmt::format("layer {} of {} is left to containerd: {}", LabelOr(labels, oci::kLabelLayerDigest, target),
                           LabelOr(labels, oci::kLabelImageRef, "an unnamed image"),
                           deferral.ok() ? std::string_view((*deferral)->reason) : Message(deferral.status())));
  }
  return Create(SnapshotKind::kActive, key, parent, labels);
}

Result<Snapshotter::Deferral> Snapshotter::PrepareRemote(const std::string& target, const std::string& parent,
                                                         const Labels& labels, const std::string& containerd_namespace,
                                                         const std::stop_token& stop) {
  const std::string layer = LabelOr(labels, oci::kLabelLayerDigest, "");
  SOCI_ASSIGN_OR_RETURN(std::optional<Snapshot> present, metastore_.FindRemote(target, parent));
  if (present && lowers_.Of(*present).ok()) return std::nullopt;
  if (present && present->layer != layer) {
    return LayerDeferred{fmt::format("its snapshot rests on layer {}, which cannot be mounted", present->layer)};
  }
  Result<Deferral> deferral = std::nullopt;
  {
    LayerUse::Hold hold(layer_use_, layer);
    deferral = ProvideAndRecord(target, parent, labels, containerd_namespace, stop);
  }
  // If it failed, or if somebody removed the last snapshot of the layer while we held it.
  ReleaseIfUnused(layer);
  return deferral;
}

Result<Snapshotter::Deferral> Snapshotter::ProvideAndRecord(const std::string& target, const std::string& parent,
                                                            const Labels& labels,
                                                            const std::string& containerd_namespace,
                                                            const std::stop_token& stop) {
  SOCI_ASSIGN_OR_RETURN(ProvideOutcome outcome, provider_.Provide(labels, containerd_namespace, stop));
  if (const auto* deferred = std::get_if<LayerDeferred>(&outcome)) return *deferred;
  const LayerProvided& provided = std::get<LayerProvided>(outcome);
  const std::string layer = provided.layer.ToString();
  if (layer != LabelOr(labels, oci::kLabelLayerDigest, "")) {
    return absl::InternalError(fmt::format("layer {} was provided, which was not asked for", layer));
  }
  lowers_.Forget(layer);
  const Labels all = RemoteLabels(labels, provided.extra_labels, containerd_namespace);
  Result<Snapshot> added = metastore_.AddRemote(target, parent, all, layer);
  if (added.ok()) {
    log::Info("layer {} of {} is {}", layer, LabelOr(labels, oci::kLabelImageRef, "an unnamed image"),
              provided.lazy ? "mounted lazily" : "here as a whole");
  } else if (added.status().code() != absl::StatusCode::kAlreadyExists) {
    return added.status();
  }
  return std::nullopt;
}

Result<std::vector<Mount>> Snapshotter::Create(SnapshotKind kind, const std::string& key, const std::string& parent,
                                               const Labels& labels) {
  SOCI_ASSIGN_OR_RETURN(SnapshotStack stack, metastore_.Create(kind, key, parent, labels));
  Result<std::vector<Mount>> mounts = MakeFolderAndMounts(stack);
  if (mounts.ok()) {
    const bool told = RecordingOf(stack.snapshot).has_value();
    if (kind == SnapshotKind::kActive && !told && !IsUnpacking(key)) TellOfContainer(stack);
    return mounts;
  }
  // containerd never hears of this snapshot. After a kill in between it is one that containerd does not know and
  // collects.
  if (Status undone = metastore_.Remove(key).status(); !undone.ok()) {
    log::Warning("snapshot {} could not be undone: {}", key, Message(undone));
  }
  return mounts;
}

void Snapshotter::TellOfContainer(const SnapshotStack& stack) {
  const std::vector<oci::LayerDigest> layers = LayersOf(stack);
  const auto highest =
      std::find_if(stack.parents.begin(), stack.parents.end(), [](const Snapshot& parent) { return parent.remote(); });
  if (!layers.empty()) provider_.ContainerPrepared(layers, highest->labels);
}

Result<std::vector<Mount>> Snapshotter::MakeFolderAndMounts(const SnapshotStack& stack) {
  SOCI_ASSIGN_OR_RETURN(std::vector<std::string> lowers, lowers_.Of(stack.parents));
  std::optional<SnapshotFolders::Owner> owner;
  if (!lowers.empty()) {
    SOCI_ASSIGN_OR_RETURN(owner, SnapshotFolders::OwnerOf(lowers.front()));
  }
  SOCI_RETURN_IF_ERROR(folders_.Make(stack.snapshot.id, stack.snapshot.kind, owner));
  const std::optional<std::string> recording = RecordingOf(stack.snapshot);
  if (!recording) return MountsOf(stack, std::move(lowers));
  SOCI_ASSIGN_OR_RETURN(const LayerProvider::Directories own, provider_.BeginRecording(*recording, LayersOf(stack)));
  return MountsOf(stack, std::move(lowers), own);
}

}  // namespace soci
