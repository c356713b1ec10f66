// A snapshot and what is below it -> the mounts containerd performs. Pure.
//
// Without parents: a bind mount of its own folder. A view of one parent: a read-only bind mount of that parent. Else
// overlayfs. The options are fixed, whatever the machine's defaults are, because a restarted container may find a lower
// directory in another place (a FUSE mount that has become a sealed folder) under the same upper directory.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "snapshotter/metastore/snapshot.h"

namespace soci {

struct Mount {
  std::string type;
  std::string source;
  std::vector<std::string> options;

  bool operator==(const Mount&) const = default;
};

// What this kernel and this process allow.
struct OverlayFlags {
  bool index = true;         // the kernel knows index=
  bool metacopy = true;      // ... metacopy=
  bool redirect_dir = true;  // ... redirect_dir=
  bool xino = true;          // ... xino=
  bool userxattr = false;    // mounts happen in a user namespace: whiteouts live in user.overlay.*
};
OverlayFlags DetectOverlayFlags();

struct SnapshotFolder {
  std::string fs;
  std::string work;
};

// `lowers`: the nearest parent's directory first.
std::vector<Mount> MakeMounts(SnapshotKind kind, const SnapshotFolder& own, const std::vector<std::string>& lowers,
                              const OverlayFlags& flags);

// How many bytes of options mount(2) gets; the kernel takes less than one page, and containerd starts to rewrite them
// 512 bytes before that.
size_t OptionBytes(const std::vector<Mount>& mounts);
inline constexpr size_t kComfortableOptionBytes = 4096 - 512;

}  // namespace soci
