// Builds the sealed layer next to its backing files: folders, links, devices, and every backing file moved to where the
// layer has it, with owners, modes, times and xattrs. Then one rename makes it visible.
//
// May be interrupted at any point and called again: each step finds out whether it was done. One thread.
#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "fuse/store/layer_folder.h"
#include "indexer/base/result.h"
#include "indexer/base/unique_fd.h"
#include "indexer/table/layer_table.h"

namespace soci {

class LayerSealer {
 public:
  // Borrows all; `before_step` may be empty.
  LayerSealer(const LayerFolder& folder, const LayerTable& table, const std::function<void()>& before_step);

  // Whether everything is on the disk before the last rename, or the caller sees to it later.
  enum class Durability { kNow, kLater };
  // kCancelled leaves a part, to be gone on with.
  Status Build(const std::stop_token& stop, Durability durability = Durability::kNow);

 private:
  Status MakeChild(InodeId folder, const std::string& folder_path, uint64_t rank);
  Status MakeFirstName(InodeId inode, const InodeAttributes& attributes, const std::string& path);
  Status MoveFile(InodeId inode, const InodeAttributes& attributes, const std::string& path);
  Status MakeHardLink(InodeId inode, const std::string& path);
  Status SetAttributes(InodeId inode, const InodeAttributes& attributes, const std::string& path);
  Status SetXattrs(InodeId inode, const std::string& path);
  // `done` is the outcome of a system call whose effect may be there from before.
  Status MadeOrThere(int done, const std::string& path, uint32_t type) const;
  void Step() const;

  const LayerFolder& folder_;
  const LayerTable& table_;
  const std::function<void()>& before_step_;
  UniqueFd root_;
  std::vector<bool> placed_;  // inodes that have a name in the tree
};

// Backing files, residue and presence of a layer that is sealed.
Status RemoveWhatSealingLeaves(const LayerFolder& folder);

}  // namespace soci
