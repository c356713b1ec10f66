// Where things lie in one layer's folder, and opening a file's bytes wherever they are at the moment: among the backing
// files, in the tree that is being sealed, or in the sealed one. They only ever move in that order, by rename.
//
// Any thread. Holds no descriptor.
#pragma once

#include <fcntl.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "indexer/base/ranges.h"
#include "indexer/base/result.h"
#include "indexer/base/unique_fd.h"
#include "indexer/table/layer_table.h"

namespace soci {

class LayerFolder {
 public:
  LayerFolder(std::string path, std::shared_ptr<const LayerTable> table);

  const std::string& path() const { return path_; }
  std::string presence() const { return path_ + "/presence"; }
  std::string residue() const { return path_ + "/residue"; }
  std::string data() const { return path_ + "/data"; }
  std::string sealing() const { return path_ + "/fs.partial"; }
  std::string sealed() const { return path_ + "/fs"; }

  // data/<xx>/<offset>: named by where the file's data begin in the tar. xx spreads them over 256 folders.
  std::string BackingFile(uint64_t content_begin) const;

  // A name of the inode in the layer, relative to its root, without a leading slash; "." for the root itself.
  std::string PathInLayer(InodeId inode) const;

  // `file` is a regular file with data. With `may_block` false, kUnavailable if names would have to be read from disk.
  Result<UniqueFd> OpenForReading(InodeId file, bool may_block) const;

  // The same for writing; makes the backing file if there is none anywhere, `whole.size()` bytes long and empty (a
  // hole). A file that is about to be written from end to end needs no length before.
  Result<UniqueFd> OpenForWriting(InodeId file, UncompressedRange whole, bool written_whole) const;

  // The same for taking bytes away: makes nothing. ENOENT if there is no such file anywhere.
  Result<UniqueFd> OpenForCutting(InodeId file) const { return OpenExisting(file, O_RDWR, true); }

  // Where files may be found from now on; saves looking where they cannot be.
  enum class Stage { kBackingFiles, kSealing, kSealed };
  void SetStage(Stage stage) const { stage_ = stage; }
  bool IsBeingSealed() const { return stage_ == Stage::kSealing; }

 private:
  struct NameOf {
    uint32_t folder = 0;
    uint32_t rank = 0;
  };

  Result<UniqueFd> OpenInTree(const std::string& tree, InodeId file, int flags, bool may_block) const;
  Result<UniqueFd> OpenExisting(InodeId file, int flags, bool may_block) const;
  void FindNames() const;

  const std::string path_;
  const std::shared_ptr<const LayerTable> table_;
  mutable std::atomic<Stage> stage_{Stage::kBackingFiles};
  mutable std::once_flag names_once_;
  mutable std::vector<NameOf> names_;  // by inode number; made when it is first needed
};

}  // namespace soci
