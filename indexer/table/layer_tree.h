// The directory tree that a layer's members make when they are applied one after the other, as containerd applies them.
//
// The rules (docs/formats.md): a directory met again takes the new attributes and keeps its children; anything else
// replaces what had its name; a hard link needs an earlier target and brings its attributes to it; symlinks in the path
// of a member are followed inside the layer; attributes of the root itself are not taken; whiteouts become what
// overlayfs understands. Work and memory are bounded by the members, whatever they say. One thread. Keeps what it
// needs of a member, so that members may come one at a time.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "indexer/base/result.h"
#include "indexer/tar/entry.h"

namespace soci::table {

// Texts that stay where they are. One thread at a time.
class TextPool {
 public:
  std::string_view Keep(std::string_view text);

 private:
  std::deque<std::string> blocks_;  // filled up to their capacity, never beyond
};

class LayerTree {
 public:
  using Index = uint32_t;  // of an inode in the order of creation; the root is 0

  struct Inode {
    uint32_t mode = 0;  // with type bits
    uint32_t uid = 0;
    uint32_t gid = 0;
    uint32_t device_major = 0;
    uint32_t device_minor = 0;
    uint32_t mtime_nanoseconds = 0;
    int64_t mtime_seconds = 0;
    Index parent = 0;  // of a directory
    uint32_t path_length = 0;
    bool opaque = false;
    bool implied = false;  // a folder that no member describes
    UncompressedRange content;
    std::string_view link_target;
    std::vector<std::pair<std::string_view, std::string_view>> xattrs;  // sorted by name
  };

  using Children = std::map<std::pair<Index, std::string_view>, Index>;
  struct ChildRange {
    Children::const_iterator first, last;
    Children::const_iterator begin() const { return first; }
    Children::const_iterator end() const { return last; }
  };

  explicit LayerTree(size_t members, bool with_xattrs);

  // Applies the next member. Returns the inode that got its data, if it is a regular file. kInvalidArgument for a
  // member that cannot be applied; the message does not name it.
  Result<Index> Add(const tar::Entry& member);

  // After the last Add: puts in the whiteouts of names that the layer itself does not have.
  void AddWhiteouts();

  size_t inode_count() const { return inodes_.size(); }  // unreachable ones too
  const Inode& inode(Index index) const { return inodes_[index]; }
  ChildRange ChildrenOf(Index directory) const;  // sorted by the bytes of their names

  static constexpr Index kNone = UINT32_MAX;

 private:
  struct Whiteout {
    Index directory;
    std::string_view name;
    uint32_t uid;
    uint32_t gid;
  };

  Status CheckDepth(Index directory, std::string_view name) const;
  Result<Index> ParentOf(const std::vector<std::string_view>& path);
  Result<Index> MakeParent(Index directory, std::string_view name);
  Result<Index> HardLinkTarget(std::string_view target);
  Status AddWhiteout(const tar::Entry& member, Index directory, std::string_view name);
  Result<Index> Create(const tar::Entry& member, Index parent, std::string_view name);
  void SetAttributes(Inode& inode, const tar::Entry& member);
  Index Find(Index directory, std::string_view name) const;

  const bool with_xattrs_;
  size_t implied_directories_left_;
  size_t steps_left_;
  std::vector<Inode> inodes_;
  Children children_;  // an ordered map: no choice of names makes it slow, and its order is the one we need
  std::vector<Whiteout> whiteouts_;
  TextPool texts_;  // what the views above are of
};

}  // namespace soci::table
