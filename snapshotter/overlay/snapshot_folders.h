// The folders of snapshots that are not remote: <state>/snapshots/<id>/{fs,work}.
//
// A folder that goes is renamed away at once and deleted later, so that a kill in between leaves either the folder or
// something Names() shows. Each id is used by one caller at a time; else any thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "indexer/base/result.h"
#include "snapshotter/metastore/snapshot.h"
#include "snapshotter/overlay/mounts.h"

namespace soci {

class SnapshotFolders {
 public:
  struct Owner {
    uid_t user = 0;
    gid_t group = 0;
  };

  explicit SnapshotFolders(std::string folder) : folder_(std::move(folder)) {}

  SnapshotFolder Of(int64_t id) const;

  // As containerd's own snapshotter makes them: fs 0755 (an active one's is the container's root), work 0711 for active
  // ones. fs belongs to `owner`, the one of the parent's root. On an error nothing is left.
  Status Make(int64_t id, SnapshotKind kind, std::optional<Owner> owner);

  // The name it has then; a folder that is not there is fine.
  Result<std::string> MoveAway(int64_t id);
  // All that lie there: ids, and what MoveAway left.
  Result<std::vector<std::string>> Names() const;
  Status Delete(const std::string& name, const std::stop_token& stop = {});

  // The id a name stands for; no value for one that was moved away.
  static std::optional<int64_t> IdOf(const std::string& name);
  // Who owns a directory.
  static Result<Owner> OwnerOf(const std::string& path);

 private:
  const std::string folder_;
};

}  // namespace soci
