// One snapshot as the metastore knows it. A value.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace soci {

using Labels = std::map<std::string, std::string>;

enum class SnapshotKind { kView = 1, kActive = 2, kCommitted = 3 };

struct SnapshotUsage {
  uint64_t bytes = 0;
  uint64_t inodes = 0;
};

struct Snapshot {
  int64_t id = 0;      // names its directory; never used twice
  std::string name;    // key of an active one or a view, name of a committed one; one space of names
  std::string parent;  // name of its parent; empty for none
  SnapshotKind kind = SnapshotKind::kActive;
  std::chrono::system_clock::time_point created;
  std::chrono::system_clock::time_point updated;
  Labels labels;
  std::string target;   // of a remote snapshot: what it stands for; its name may be longer
  std::string layer;    // of a remote snapshot: digest of the layer behind it; the others have a directory of their own
  SnapshotUsage usage;  // of a committed one

  bool remote() const { return !layer.empty(); }
};

struct SnapshotStack {
  Snapshot snapshot;
  std::vector<Snapshot> parents;  // the nearest first
};

}  // namespace soci
