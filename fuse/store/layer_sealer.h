// Builds the sealed layer next to its backing files: folders, links, devices, and every backing file moved to where the
// layer has it, with owners, modes, times and xattrs. Then one rename makes it visible. Nothing is synced: who calls
// remembers that the tree may not be on the disk yet.
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

  // kCancelled leaves a part, to be gone on with.
  Status Build(const std::stop_token& stop);

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

// Presence, backing files and residue of a layer that is sealed and on the disk; presence first, as it stands for
// doubt.
Status RemoveWhatSealingLeaves(const LayerFolder& folder);

}  // namespace soci
