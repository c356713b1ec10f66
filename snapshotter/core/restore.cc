// What happens at the start of a run, and what goes: layers nobody uses, folders of no snapshot.
#include <algorithm>
#include <future>
#include <map>
#include <memory>

#include "indexer/base/log.h"
#include "snapshotter/core/snapshotter.h"
#include "snapshotter/pull/layer_provider.h"

namespace soci {

Status Snapshotter::Restore() {
  reserve_.Hold();
  SOCI_ASSIGN_OR_RETURN(std::vector<Snapshot> snapshots, metastore_.List({}));
  std::map<std::string, const Snapshot*> layers;
  for (const Snapshot& snapshot : snapshots) {
    if (snapshot.remote()) layers.emplace(snapshot.layer, &snapshot);
  }
  {
    ThreadPool pool("restore", std::max<size_t>(options_.restore_threads, 1));
    std::vector<std::future<void>> done;
    for (const auto& [layer, snapshot] : layers) {
      auto task = std::make_shared<std::packaged_task<void()>>([this, snapshot = snapshot] {
        Status status = lowers_.Restore(*snapshot, LayerProvider::RestoreFrom::kDisk);
        if (absl::IsUnavailable(status)) {
          log::Warning("layer {}: {}; fetching it again", snapshot->layer, Message(status));
          fetching_.Post([this, again = *snapshot] { FetchAgain(again); });
        } else if (!status.ok()) {
          log::Error("layer {} cannot be mounted again: {}", snapshot->layer, Message(status));
        }
      });
      done.push_back(task->get_future());
      pool.Post([task] { (*task)(); });
    }
    for (std::future<void>& one : done) one.wait();
  }
  background_.Post([this] { DeleteStrays(); });
  return OkStatus();
}

// Whoever needs the layer before it is there waits for it, or tries it once more.
void Snapshotter::FetchAgain(const Snapshot& remote) {
  if (stop_.stop_requested()) return;
  Status status = lowers_.Restore(remote, LayerProvider::RestoreFrom::kAnywhere);
  if (!status.ok() && !stop_.stop_requested()) {
    log::Error("layer {} cannot be mounted again: {}", remote.layer, Message(status));
  }
  ReleaseIfUnused(remote.layer);  // its snapshot may have gone meanwhile
  if (!lowers_.AnyBroken()) background_.Post([this] { DeleteStrays(); });
}

Status Snapshotter::Cleanup() {
  // The background has one thread: when this task runs, all that was posted before is done.
  // If the pool stops first, the promise breaks and the wait is over.
  auto done = std::make_shared<std::promise<void>>();
  std::future<void> finished = done->get_future();
  background_.Post([this, done = std::move(done)] {
    DeleteStrays();
    done->set_value();
  });
  finished.wait();
  return OkStatus();
}

void Snapshotter::ReleaseIfUnused(const std::string& layer) {
  if (stop_.stop_requested()) return;  // the next start finds that nobody uses it
  Result<oci::LayerDigest> digest = oci::LayerDigest::Parse(layer);
  if (!digest.ok()) return;
  auto unused = [&] {
    Result<bool> used = metastore_.UsesLayer(layer);
    return used.ok() && !*used;
  };
  layer_use_.ReleaseIf(layer, unused, [&] {
    lowers_.Forget(layer);
    Status status = provider_.Release(*digest);
    if (!status.ok()) log::Warning("layer {} could not be removed whole: {}", layer, Message(status));
  });
}

void Snapshotter::Delete(const std::string& folder_name) {
  Status status = folders_.Delete(folder_name, stop_.get_token());
  if (!status.ok() && !absl::IsCancelled(status)) log::Warning("a folder of no snapshot stays: {}", Message(status));
}

void Snapshotter::DeleteLater(const std::string& folder_name) {
  background_.Post([this, folder_name] {
    Delete(folder_name);
    reserve_.Hold();
  });
}

void Snapshotter::DeleteStrays() {
  if (stop_.stop_requested()) return;
  // Folders first, ids second: a folder is made after its row, so one that is listed here has its row there.
  Result<std::vector<std::string>> names = folders_.Names();
  Result<std::set<int64_t>> ids = metastore_.Ids();
  if (!names.ok() || !ids.ok()) {
    log::Warning("leftovers stay for now: {}", Message(names.ok() ? ids.status() : names.status()));
    return;
  }
  for (const std::string& name : *names) {
    const std::optional<int64_t> id = SnapshotFolders::IdOf(name);
    if (id && ids->count(*id) > 0) continue;
    Delete(name);
  }
  if (stop_.stop_requested()) return;
  links_.Keep(*ids);
  // What is on disk of a layer that could not be mounted is all there is of it while its registry is away.
  if (!lowers_.AnyBroken()) provider_.CollectUnused();
}

}  // namespace soci
