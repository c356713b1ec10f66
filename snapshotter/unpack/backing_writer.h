// Writes the files of a layer, while it is decoded, to where the store keeps backing files: sealing then moves them to
// their names, so each byte is written once. What a file's own member says of owner, mode and time is set on the way,
// so that sealing, for which somebody waits, mostly finds it right.
//
// Refuses, as soon as it sees them, layers whose tree cannot be told from their members alone: containerd has to unpack
// those. One thread at a time.
#pragma once

#include <ctime>
#include <deque>
#include <string>
#include <unordered_set>

#include "fuse/store/layer_folder.h"
#include "indexer/base/unique_fd.h"
#include "indexer/ztoc/tar_observer.h"

namespace soci {

class BackingWriter final : public TarObserver {
 public:
  // `lowest`: the layer has none below it. Otherwise a folder without a member of its own has the owner and the mode
  // that it has below, and we do not look there.
  BackingWriter(const std::string& layer_folder, bool lowest) : folder_(layer_folder, nullptr), lowest_(lowest) {}

  // kUnimplemented for a layer that we leave to containerd.
  Status OnMember(const tar::Entry& member) override;
  Status OnTar(uint64_t position, ByteSpan bytes) override;

 private:
  struct File {
    UncompressedRange content;
    uint32_t uid = 0, gid = 0, mode = 0;
    timespec modified{};
  };

  Status CheckParent(const tar::Entry& member);
  void SetAttributes(const File& file) const;

  const LayerFolder folder_;
  const bool lowest_;
  std::unordered_set<std::string> known_;  // names that a member may be below
  std::deque<File> unfinished_;            // in order; the first may be half written
  UniqueFd file_;                          // of the first, if it is
};

}  // namespace soci
