// The snapshots and how they rest on each other, on disk, with exactly the rules containerd's own metastore has.
//
// Keys and names share one space. A parent must be committed. Committing turns key into name in one step and replaces
// the labels; a snapshot with children cannot be removed. kNotFound, kAlreadyExists, kFailedPrecondition and
// kInvalidArgument are what containerd's would be. Each call is one transaction, over before it returns; any thread.
// Labels with empty values are not kept.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "indexer/base/mutex.h"
#include "indexer/base/result.h"
#include "snapshotter/metastore/database.h"
#include "snapshotter/metastore/filter.h"
#include "snapshotter/metastore/snapshot.h"

namespace soci {

class Metastore {
 public:
  // Makes the file if it is missing. kDataLoss naming the file if it is damaged; kFailedPrecondition if a newer version
  // wrote it.
  static Result<std::unique_ptr<Metastore>> Open(const std::string& path);

  Result<Snapshot> Stat(const std::string& name);
  // An active snapshot or a view, with what is below it. kFailedPrecondition for a committed one.
  Result<SnapshotStack> GetOpen(const std::string& key);

  // kind: kActive or kView.
  Result<SnapshotStack> Create(SnapshotKind kind, const std::string& key, const std::string& parent,
                               const Labels& labels);
  // Whether Create would work, without doing it.
  Status CheckCreate(const std::string& key, const std::string& parent);

  Result<Snapshot> Commit(const std::string& key, const std::string& name, const Labels& labels, SnapshotUsage usage);

  // A committed snapshot made in one step, with a layer behind it instead of a directory. Its name is `target`, or one
  // made from it if that is taken by a snapshot on another parent. kAlreadyExists if the same layer stack is there.
  Result<Snapshot> AddRemote(const std::string& target, const std::string& parent, const Labels& labels,
                             const std::string& layer);
  // The remote snapshot for `target` on `parent`.
  Result<std::optional<Snapshot>> FindRemote(const std::string& target, const std::string& parent);

  // What was removed.
  Result<Snapshot> Remove(const std::string& name);

  // Paths of the mask: "labels" (replaces all) or "labels.<key>"; without a mask as "labels". The new state.
  Result<Snapshot> Update(const std::string& name, const Labels& labels, const std::vector<std::string>& mask);

  // Sorted by name.
  Result<std::vector<Snapshot>> List(const SnapshotFilter& filter);

  Result<bool> UsesLayer(const std::string& layer);
  Result<std::set<int64_t>> Ids();

 private:
  explicit Metastore(std::unique_ptr<Database> database) : database_(std::move(database)) {}

  Status Migrate() SOCI_REQUIRES(mutex_);
  Result<std::vector<Snapshot>> Select(std::string_view where, std::string_view value) SOCI_REQUIRES(mutex_);
  Result<std::optional<Snapshot>> Find(const std::string& name) SOCI_REQUIRES(mutex_);
  Result<Snapshot> Get(const std::string& name) SOCI_REQUIRES(mutex_);
  Result<std::vector<Snapshot>> Ancestors(const Snapshot& snapshot) SOCI_REQUIRES(mutex_);
  // The parent's row, or none for an empty name; errors as Create's.
  Result<std::optional<Snapshot>> CheckParent(const std::string& parent) SOCI_REQUIRES(mutex_);
  Status CheckFree(const std::string& name) SOCI_REQUIRES(mutex_);
  Result<std::optional<Snapshot>> FindRemoteLocked(const std::string& target, const std::string& parent)
      SOCI_REQUIRES(mutex_);
  Result<Snapshot> Insert(Snapshot snapshot, int64_t parent_id) SOCI_REQUIRES(mutex_);
  Status ReadLabels(Snapshot& snapshot) SOCI_REQUIRES(mutex_);
  Status WriteLabels(int64_t id, Labels& labels) SOCI_REQUIRES(mutex_);

  Mutex mutex_;  // a leaf; held for one transaction
  const std::unique_ptr<Database> database_ SOCI_GUARDED_BY(mutex_);
};

}  // namespace soci
