// What a directory takes on its file system: blocks and inodes, each inode once, as containerd counts it.
//
// The tree may change meanwhile, and may belong to somebody hostile: the walk follows no link, crosses no mount, keeps
// one folder open at a time, and leaves out what lies deeper than a path can be long. Any thread.
#pragma once

#include <string>

#include "indexer/base/result.h"
#include "snapshotter/metastore/snapshot.h"

namespace soci {

Result<SnapshotUsage> DiskUsage(const std::string& folder);

}  // namespace soci
