#include "snapshotter/metastore/metastore.h"

#include <fmt/format.h>

#include "snapshotter/metastore/schema.h"

namespace soci {
namespace {

using TimePoint = std::chrono::system_clock::time_point;

int64_t ToNanoseconds(TimePoint time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}
TimePoint FromNanoseconds(int64_t count) {
  return TimePoint(std::chrono::duration_cast<TimePoint::duration>(std::chrono::nanoseconds(count)));
}

constexpr std::string_view kColumns =
    "SELECT s.id, s.name, coalesce(p.name, ''), s.kind, s.created, s.updated, s.target, s.layer, s.bytes, s.inodes "
    "FROM snapshots s LEFT JOIN snapshots p ON p.id = s.parent ";

Snapshot ReadRow(const Statement& row) {
  Snapshot snapshot;
  snapshot.id = row.Number(0);
  snapshot.name = row.Text(1);
  snapshot.parent = row.Text(2);
  snapshot.kind = static_cast<SnapshotKind>(row.Number(3));
  snapshot.created = FromNanoseconds(row.Number(4));
  snapshot.updated = FromNanoseconds(row.Number(5));
  snapshot.target = row.Text(6);
  snapshot.layer = row.Text(7);
  snapshot.usage.bytes = static_cast<uint64_t>(row.Number(8));
  snapshot.usage.inodes = static_cast<uint64_t>(row.Number(9));
  return snapshot;
}

Status NotFound(const std::string& name) {
  return absl::NotFoundError(fmt::format("snapshot {} does not exist", name));
}

}  // namespace

Result<std::unique_ptr<Metastore>> Metastore::Open(const std::string& path) {
  SOCI_ASSIGN_OR_RETURN(std::unique_ptr<Database> database, Database::Open(path));
  std::unique_ptr<Metastore> metastore(new Metastore(std::move(database)));
  MutexLock lock(metastore->mutex_);
  SOCI_RETURN_IF_ERROR(metastore->Migrate());
  return metastore;
}

Status Metastore::Migrate() {
  SOCI_ASSIGN_OR_RETURN(int64_t version, database_->QueryNumber("PRAGMA user_version"));
  if (version == kSchemaVersion) return OkStatus();
  if (version != 0) {
    return absl::FailedPreconditionError(
        fmt::format("{}: schema {}, but this version knows only {}", database_->path(), version, kSchemaVersion));
  }
  SOCI_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(*database_));
  SOCI_RETURN_IF_ERROR(database_->Execute(kSchema));
  SOCI_RETURN_IF_ERROR(database_->Execute(fmt::format("PRAGMA user_version={}", kSchemaVersion).c_str()));
  return transaction.Commit();
}

Result<std::vector<Snapshot>> Metastore::Select(std::string_view where, std::string_view value) {
  SOCI_ASSIGN_OR_RETURN(Statement statement, database_->Prepare(std::string(kColumns) + std::string(where)));
  if (!value.empty()) statement.Bind(1, value);
  std::vector<Snapshot> snapshots;
  for (;;) {
    SOCI_ASSIGN_OR_RETURN(bool row, statement.Step());
    if (!row) break;
    snapshots.push_back(ReadRow(statement));
  }
  for (Snapshot& snapshot : snapshots) SOCI_RETURN_IF_ERROR(ReadLabels(snapshot));
  return snapshots;
}

Result<std::optional<Snapshot>> Metastore::Find(const std::string& name) {
  if (name.empty()) return std::nullopt;
  SOCI_ASSIGN_OR_RETURN(std::vector<Snapshot> found, Select("WHERE s.name = ?1", name));
  if (found.empty()) return std::nullopt;
  return std::move(found.front());
}

Result<Snapshot> Metastore::Get(const std::string& name) {
  SOCI_ASSIGN_OR_RETURN(std::optional<Snapshot> found, Find(name));
  if (!found) return NotFound(name);
  return *std::move(found);
}

Result<std::vector<Snapshot>> Metastore::Ancestors(const Snapshot& snapshot) {
  std::vector<Snapshot> ancestors;
  for (std::string next = snapshot.parent; !next.empty(); next = ancestors.back().parent) {
    SOCI_ASSIGN_OR_RETURN(Snapshot parent, Get(next));
    ancestors.push_back(std::move(parent));
    // A child always has the larger id; anything else is damage and could be a circle.
    const int64_t child = ancestors.size() > 1 ? ancestors[ancestors.size() - 2].id : snapshot.id;
    if (ancestors.back().id >= child) {
      return absl::DataLossError(fmt::format("{}: snapshot {} has a younger parent", database_->path(), snapshot.name));
    }
  }
  return ancestors;
}

Result<std::optional<Snapshot>> Metastore::CheckParent(const std::string& parent) {
  if (parent.empty()) return std::nullopt;
  SOCI_ASSIGN_OR_RETURN(std::optional<Snapshot> found, Find(parent));
  if (!found) return absl::NotFoundError(fmt::format("parent snapshot {} does not exist", parent));
  if (found->kind != SnapshotKind::kCommitted) {
    return absl::InvalidArgumentError(fmt::format("parent snapshot {} is not committed", parent));
  }
  return found;
}

Status Metastore::CheckFree(const std::string& name) {
  if (name.empty()) return absl::InvalidArgumentError("a snapshot needs a key or name");
  SOCI_ASSIGN_OR_RETURN(std::optional<Snapshot> found, Find(name));
  return found ? absl::AlreadyExistsError(fmt::format("snapshot {} already exists", name)) : OkStatus();
}

Status Metastore::ReadLabels(Snapshot& snapshot) {
  SOCI_ASSIGN_OR_RETURN(Statement statement, database_->Prepare("SELECT key, value FROM labels WHERE snapshot = ?1"));
  statement.Bind(1, snapshot.id);
  for (;;) {
    SOCI_ASSIGN_OR_RETURN(bool row, statement.Step());
    if (!row) return OkStatus();
    snapshot.labels.emplace(statement.Text(0), statement.Text(1));
  }
}

Status Metastore::WriteLabels(int64_t id, Labels& labels) {
  std::erase_if(labels, [](const auto& label) { return label.second.empty(); });
  SOCI_ASSIGN_OR_RETURN(Statement drop, database_->Prepare("DELETE FROM labels WHERE snapshot = ?1"));
  SOCI_RETURN_IF_ERROR(drop.Bind(1, id).Run());
  for (const auto& [key, value] : labels) {
    SOCI_ASSIGN_OR_RETURN(Statement insert, database_->Prepare("INSERT INTO labels VALUES(?1, ?2, ?3)"));
    SOCI_RETURN_IF_ERROR(insert.Bind(1, id).Bind(2, key).Bind(3, value).Run());
  }
  return OkStatus();
}

Result<Snapshot> Metastore::Insert(Snapshot snapshot, int64_t parent_id) {
  snapshot.created = snapshot.updated = std::chrono::system_clock::now();
  SOCI_ASSIGN_OR_RETURN(
      Statement insert,
      database_->Prepare("INSERT INTO snapshots(name, parent, kind, created, updated, target, layer, bytes, inodes) "
                         "VALUES(?1, ?2, ?3, ?4, ?4, ?5, ?6, 0, 0)"));
  insert.Bind(1, snapshot.name).Bind(3, static_cast<int64_t>(snapshot.kind));
  if (parent_id == 0) {
    insert.BindNull(2);
  } else {
    insert.Bind(2, parent_id);
  }
  insert.Bind(4, ToNanoseconds(snapshot.created));
  SOCI_RETURN_IF_ERROR(insert.Bind(5, snapshot.target).Bind(6, snapshot.layer).Run());
  snapshot.id = database_->last_row_id();
  SOCI_RETURN_IF_ERROR(WriteLabels(snapshot.id, snapshot.labels));
  return snapshot;
}

Result<Snapshot> Metastore::Stat(const std::string& name) {
  MutexLock lock(mutex_);
  return Get(name);
}

Result<SnapshotStack> Metastore::GetOpen(const std::string& key) {
  MutexLock lock(mutex_);
  SOCI_ASSIGN_OR_RETURN(Snapshot snapshot, Get(key));
  if (snapshot.kind == SnapshotKind::kCommitted) {
    return absl::FailedPreconditionError(fmt::format("snapshot {} is committed, neither active nor a view", key));
  }
  SOCI_ASSIGN_OR_RETURN(std::vector<Snapshot> parents, Ancestors(snapshot));
  return SnapshotStack{std::move(snapshot), std::move(parents)};
}

Status Metastore::CheckCreate(const std::string& key, const std::string& parent) {
  MutexLock lock(mutex_);
  SOCI_RETURN_IF_ERROR(CheckParent(parent).status());
  return CheckFree(key);
}

Result<SnapshotStack> Metastore::Create(SnapshotKind kind, const std::string& key, const std::string& parent,
                                        const Labels& labels) {
  MutexLock lock(mutex_);
  SOCI_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(*database_));
  SOCI_ASSIGN_OR_RETURN(std::optional<Snapshot> below, CheckParent(parent));
  SOCI_RETURN_IF_ERROR(CheckFree(key));
  Snapshot snapshot;
  snapshot.name = key;
  snapshot.parent = parent;
  snapshot.kind = kind;
  snapshot.labels = labels;
  SOCI_ASSIGN_OR_RETURN(snapshot, Insert(std::move(snapshot), below ? below->id : 0));
  SOCI_ASSIGN_OR_RETURN(std::vector<Snapshot> parents, Ancestors(snapshot));
  SOCI_RETURN_IF_ERROR(transaction.Commit());
  return SnapshotStack{std::move(snapshot), std::move(parents)};
}

Result<Snapshot> Metastore::Commit(const std::string& key, const std::string& name, const Labels& labels,
                                   SnapshotUsage usage) {
  MutexLock lock(mutex_);
  SOCI_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(*database_));
  SOCI_RETURN_IF_ERROR(CheckFree(name));
  SOCI_ASSIGN_OR_RETURN(Snapshot snapshot, Get(key));
  if (snapshot.kind != SnapshotKind::kActive) {
    return absl::FailedPreconditionError(fmt::format("snapshot {} is not active", key));
  }
  snapshot.name = name;
  snapshot.kind = SnapshotKind::kCommitted;
  snapshot.created = snapshot.updated = std::chrono::system_clock::now();
  snapshot.labels = labels;
  snapshot.usage = usage;
  SOCI_ASSIGN_OR_RETURN(Statement update,
                        database_->Prepare("UPDATE snapshots SET name = ?2, kind = ?3, created = ?4, updated = ?4, "
                                           "bytes = ?5, inodes = ?6 WHERE id = ?1"));
  update.Bind(1, snapshot.id).Bind(2, name).Bind(3, static_cast<int64_t>(snapshot.kind));
  update.Bind(4, ToNanoseconds(snapshot.created)).Bind(5, static_cast<int64_t>(usage.bytes));
  SOCI_RETURN_IF_ERROR(update.Bind(6, static_cast<int64_t>(usage.inodes)).Run());
  SOCI_RETURN_IF_ERROR(WriteLabels(snapshot.id, snapshot.labels));
  SOCI_RETURN_IF_ERROR(transaction.Commit());
  return snapshot;
}

Result<std::optional<Snapshot>> Metastore::FindRemoteLocked(const std::string& target, const std::string& parent) {
  SOCI_ASSIGN_OR_RETURN(std::vector<Snapshot> found, Select("WHERE s.target = ?1 AND s.target <> ''", target));
  for (Snapshot& snapshot : found) {
    if (snapshot.parent == parent) return std::move(snapshot);
  }
  return std::nullopt;
}

Result<std::optional<Snapshot>> Metastore::FindRemote(const std::string& target, const std::string& parent) {
  if (target.empty()) return std::nullopt;
  MutexLock lock(mutex_);
  return FindRemoteLocked(target, parent);
}

Result<Snapshot> Metastore::AddRemote(const std::string& target, const std::string& parent, const Labels& labels,
                                      const std::string& layer) {
  if (target.empty() || layer.empty())
    return absl::InvalidArgumentError("a remote snapshot needs a target and a layer");
  MutexLock lock(mutex_);
  SOCI_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(*database_));
  SOCI_ASSIGN_OR_RETURN(std::optional<Snapshot> below, CheckParent(parent));
  SOCI_ASSIGN_OR_RETURN(std::optional<Snapshot> same, FindRemoteLocked(target, parent));
  if (same) return absl::AlreadyExistsError(fmt::format("snapshot {} already exists", target));
  SOCI_ASSIGN_OR_RETURN(std::optional<Snapshot> taken, Find(target));
  Snapshot snapshot;
  // Layers that containerd unpacked itself have names of their own in each namespace, so that one target can rest on
  // several parents.
  snapshot.name = taken ? fmt::format("{}/on/{}", target, below ? below->id : 0) : target;
  snapshot.parent = parent;
  snapshot.kind = SnapshotKind::kCommitted;
  snapshot.labels = labels;
  snapshot.target = target;
  snapshot.layer = layer;
  SOCI_RETURN_IF_ERROR(CheckFree(snapshot.name));
  SOCI_ASSIGN_OR_RETURN(snapshot, Insert(std::move(snapshot), below ? below->id : 0));
  SOCI_RETURN_IF_ERROR(transaction.Commit());
  return snapshot;
}

Result<Snapshot> Metastore::Remove(const std::string& name) {
  MutexLock lock(mutex_);
  SOCI_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(*database_));
  SOCI_ASSIGN_OR_RETURN(Snapshot snapshot, Get(name));
  SOCI_ASSIGN_OR_RETURN(Statement child, database_->Prepare("SELECT name FROM snapshots WHERE parent = ?1 LIMIT 1"));
  SOCI_ASSIGN_OR_RETURN(bool has_child, child.Bind(1, snapshot.id).Step());
  if (has_child) {
    return absl::FailedPreconditionError(
        fmt::format("cannot remove snapshot {}: it has a child, {}", name, child.Text(0)));
  }
  SOCI_ASSIGN_OR_RETURN(Statement drop, database_->Prepare("DELETE FROM snapshots WHERE id = ?1"));
  SOCI_RETURN_IF_ERROR(drop.Bind(1, snapshot.id).Run());
  SOCI_RETURN_IF_ERROR(transaction.Commit());
  return snapshot;
}

Result<Snapshot> Metastore::Update(const std::string& name, const Labels& labels,
                                   const std::vector<std::string>& mask) {
  constexpr std::string_view kPrefix = "labels.";
  MutexLock lock(mutex_);
  SOCI_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(*database_));
  SOCI_ASSIGN_OR_RETURN(Snapshot snapshot, Get(name));
  if (mask.empty()) snapshot.labels = labels;
  for (const std::string& path : mask) {
    if (path == "labels") {
      snapshot.labels = labels;
    } else if (path.starts_with(kPrefix)) {
      const std::string key = path.substr(kPrefix.size());
      const auto given = labels.find(key);
      snapshot.labels[key] = given == labels.end() ? "" : given->second;
    } else {
      return absl::InvalidArgumentError(fmt::format("cannot update field {} of snapshot {}", path, name));
    }
  }
  snapshot.updated = std::chrono::system_clock::now();
  SOCI_ASSIGN_OR_RETURN(Statement update, database_->Prepare("UPDATE snapshots SET updated = ?2 WHERE id = ?1"));
  SOCI_RETURN_IF_ERROR(update.Bind(1, snapshot.id).Bind(2, ToNanoseconds(snapshot.updated)).Run());
  SOCI_RETURN_IF_ERROR(WriteLabels(snapshot.id, snapshot.labels));
  SOCI_RETURN_IF_ERROR(transaction.Commit());
  return snapshot;
}

Result<std::vector<Snapshot>> Metastore::List(const SnapshotFilter& filter) {
  MutexLock lock(mutex_);
  SOCI_ASSIGN_OR_RETURN(std::vector<Snapshot> snapshots, Select("ORDER BY s.name", ""));
  std::erase_if(snapshots, [&](const Snapshot& snapshot) { return !filter.Matches(snapshot); });
  return snapshots;
}

Result<bool> Metastore::UsesLayer(const std::string& layer) {
  MutexLock lock(mutex_);
  SOCI_ASSIGN_OR_RETURN(Statement statement,
                        database_->Prepare("SELECT 1 FROM snapshots WHERE layer = ?1 AND layer <> '' LIMIT 1"));
  return statement.Bind(1, layer).Step();
}

Result<std::set<int64_t>> Metastore::Ids() {
  MutexLock lock(mutex_);
  SOCI_ASSIGN_OR_RETURN(Statement statement, database_->Prepare("SELECT id FROM snapshots"));
  std::set<int64_t> ids;
  for (;;) {
    SOCI_ASSIGN_OR_RETURN(bool row, statement.Step());
    if (!row) return ids;
    ids.insert(statement.Number(0));
  }
}

}  // namespace soci
