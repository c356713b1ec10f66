// containerd's snapshotter verbs, with its semantics: kinds, keys, parents, labels, filters and error codes.
//
// A Prepare that names a target asks the provider for the layer first; if it comes, the snapshot is committed under the
// target and the answer is kAlreadyExists, which tells containerd to skip the download. If not, containerd gets
// ordinary mounts and one line is logged. Any thread; no lock and no transaction is held while the provider works.
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "indexer/base/result.h"
#include "indexer/base/thread_pool.h"
#include "snapshotter/core/layer_use.h"
#include "snapshotter/core/lower_directories.h"
#include "snapshotter/metastore/metastore.h"
#include "snapshotter/overlay/mounts.h"
#include "snapshotter/overlay/short_links.h"
#include "snapshotter/overlay/snapshot_folders.h"
#include "snapshotter/overlay/space_reserve.h"
#include "snapshotter/pull/layer_provider.h"

namespace soci {

class Snapshotter {
 public:
  struct Options {
    std::string state;  // snapshots/ is made below it
    std::string run;    // l/ is made below it
    OverlayFlags overlay;
    size_t restore_threads = 4;
  };

  // Borrows the metastore and the provider.
  Snapshotter(Metastore& metastore, LayerProvider& provider, Options options);

  // To be called once, before the first verb: mounts every layer of a committed snapshot again, without the network. A
  // layer that has to be fetched again is fetched in the background; one that fails is logged and fails only the
  // containers that need it. Then deletes what an earlier run left over.
  Status Restore();

  // `stop`: nobody waits for the answer any more; kCancelled then, unless it is there.
  Result<std::vector<Mount>> Prepare(const std::string& key, const std::string& parent, const Labels& labels,
                                     const std::string& containerd_namespace, const std::stop_token& stop = {});
  Result<std::vector<Mount>> View(const std::string& key, const std::string& parent, const Labels& labels);
  // kUnavailable naming the layer if one below cannot be mounted.
  Result<std::vector<Mount>> Mounts(const std::string& key);
  Status Commit(const std::string& name, const std::string& key, const Labels& labels);
  // Folders and layers go in the background; Cleanup waits for them.
  Status Remove(const std::string& key);
  Result<Snapshot> Stat(const std::string& key);
  Result<Snapshot> Update(const std::string& name, const Labels& labels, const std::vector<std::string>& mask);
  Result<std::vector<Snapshot>> Walk(const std::vector<std::string>& filters);
  // Active: what its folder takes now. Committed: what it took then. Remote: what the layer takes now.
  Result<SnapshotUsage> Usage(const std::string& key);
  // Deletes what belongs to no snapshot.
  Status Cleanup();

  // The daemon stops: deletions under way end, those that wait are left to the next start, and Cleanup returns.
  void Stop() { stop_.request_stop(); }

 private:
  Result<std::vector<Mount>> Create(SnapshotKind kind, const std::string& key, const std::string& parent,
                                    const Labels& labels);
  void ExplainMissingLabels(const std::string& key, const Labels& labels, const std::string& containerd_namespace);
  void TellOfContainer(const SnapshotStack& stack);
  Result<std::vector<Mount>> MakeFolderAndMounts(const SnapshotStack& stack);
  // `recorded`: where the layers are mounted for this container alone.
  Result<std::vector<Mount>> MountsOf(const SnapshotStack& stack, std::vector<std::string> lowers,
                                      const LayerProvider::Directories& recorded = {});

  // Why a layer is left to containerd; no value: it is there, committed under its target.
  using Deferral = std::optional<LayerDeferred>;
  Result<Deferral> PrepareRemote(const std::string& target, const std::string& parent, const Labels& labels,
                                 const std::string& containerd_namespace, const std::stop_token& stop);
  Result<Deferral> ProvideAndRecord(const std::string& target, const std::string& parent, const Labels& labels,
                                    const std::string& containerd_namespace, const std::stop_token& stop);

  void FetchAgain(const Snapshot& remote);
  void ReleaseIfUnused(const std::string& layer);
  void Delete(const std::string& folder_name);
  void DeleteLater(const std::string& folder_name);
  void DeleteStrays();

  Metastore& metastore_;
  LayerProvider& provider_;
  const Options options_;
  SnapshotFolders folders_;
  ShortLinks links_;
  const SpaceReserve reserve_;
  LayerUse layer_use_;
  LowerDirectories lowers_;
  std::stop_source stop_;
  // Last: their tasks use the rest.
  ThreadPool background_{"cleanup", 1};
  ThreadPool fetching_{"restore", 2};
};

}  // namespace soci
