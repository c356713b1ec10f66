// A directory tree as values, to compare two of them: everything a container could notice. One thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "indexer/oci/digest.h"
#include "indexer/table/layer_table.h"

namespace soci::test {

struct TreeEntry {
  uint32_t mode = 0;  // with type bits
  uint32_t uid = 0;
  uint32_t gid = 0;
  uint64_t size = 0;  // of files and symlinks
  int64_t mtime_seconds = 0;
  uint32_t mtime_nanoseconds = 0;
  std::string link_target;
  uint32_t device_major = 0;
  uint32_t device_minor = 0;
  std::map<std::string, std::string> xattrs;
  // The first path, in the order of bytes, of those that are the same inode; empty if it has one name only.
  std::string hard_link_group;
  oci::Digest content;  // of a regular file

  bool operator==(const TreeEntry&) const = default;
};

using Tree = std::map<std::string, TreeEntry>;  // by path below the root; the root itself is ""

// What stands in the file system. Throws std::runtime_error, naming the path, for anything that cannot be read.
Tree WalkDirectory(const std::string& root);

// What a table says, with contents cut from the decoded layer.
Tree WalkTable(const LayerTable& table, std::string_view tar);

// One line per difference, "path: what, expected, found"; empty if there is none. Only the first `most` are told.
std::string Differences(const Tree& expected, const Tree& found, size_t most = 20);

// Takes out the times that nobody defines, as they are those of the unpacking: of whiteouts and of `paths` (folders
// that no member makes, the root).
void ForgetTimes(Tree& tree, const std::set<std::string>& paths);

}  // namespace soci::test
