#include "snapshotter/pull/layer_folders.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <vector>

#include "indexer/base/file_io.h"
#include "indexer/base/log.h"
#include "snapshotter/pull/list_folder.h"

namespace soci {

void LayerFolders::Delete(const std::string& path) const {
  Status removed = RemoveTree(path, stop_.get_token());
  if (!removed.ok() && !absl::IsCancelled(removed)) log::Warning("deleting {}: {}", path, Message(removed));
}

Result<std::shared_ptr<const LayerFolders::Hold>> LayerFolders::Take(const oci::LayerDigest& layer) {
  std::shared_ptr<const Hold> hold;
  {
    MutexLock lock(mutex_);
    ++holders_[layer];
    hold.reset(new Hold(*this, layer));
  }
  SOCI_RETURN_IF_ERROR(MakeDirectories(paths_.LayerFolder(layer), 0700));
  return hold;
}

Result<std::shared_ptr<const LayerFolders::Hold>> LayerFolders::TakeOver(const oci::LayerDigest& layer,
                                                                         const std::string& filled) {
  SOCI_RETURN_IF_ERROR(MakeDirectories(paths_.LayersFolder(), 0700));
  const std::string own = paths_.LayerFolder(layer);
  std::shared_ptr<const Hold> hold;  // let go after the lock
  MutexLock lock(mutex_);
  if (keep_all_) return absl::CancelledError("the daemon is stopping");
  const size_t holders = ++holders_[layer];
  hold.reset(new Hold(*this, layer));
  // The kernel replaces an empty folder, and no other.
  if (::rename(filled.c_str(), own.c_str()) == 0) return hold;
  if (errno != ENOTEMPTY && errno != EEXIST) return ErrnoStatus(errno, own);
  if (holders > 1) return absl::FailedPreconditionError("the layer is being loaded by a SOCI index meanwhile");
  MoveAway(layer);
  if (::rename(filled.c_str(), own.c_str()) != 0) return ErrnoStatus(errno, own);
  return hold;
}

Status LayerFolders::MakeEmpty(const oci::LayerDigest& layer) {
  MutexLock lock(mutex_);
  if (MoveAway(layer).empty()) return absl::FailedPreconditionError(paths_.LayerFolder(layer) + " cannot be renamed");
  return MakeDirectories(paths_.LayerFolder(layer), 0700);
}

void LayerFolders::DiscardUnpacking() {
  MutexLock lock(mutex_);
  MoveAway(UnpackingFolder());
}

bool LayerFolders::IsHeld(const oci::LayerDigest& layer) const {
  MutexLock lock(mutex_);
  return holders_.count(layer) > 0;
}

void LayerFolders::LetGo(const oci::LayerDigest& layer) {
  std::string gone;
  {
    MutexLock lock(mutex_);
    auto found = holders_.find(layer);
    if (--found->second > 0) return;
    holders_.erase(found);
    if (keep_all_) return;
    gone = MoveAway(layer);
    numbers_.Free(layer);
  }
  if (!gone.empty()) Delete(gone);
}

std::string LayerFolders::MoveAway(const oci::LayerDigest& layer) { return MoveAway(paths_.LayerFolder(layer)); }

std::string LayerFolders::MoveAway(const std::string& from) {
  const std::string to = TrashFolder() + "/" + std::to_string(::getpid()) + "-" + std::to_string(++moved_);
  if (Status made = MakeDirectories(TrashFolder(), 0700); !made.ok()) {
    log::Warning("deleting {}: {}", from, Message(made));
    return "";
  }
  if (::rename(from.c_str(), to.c_str()) == 0) return to;
  if (errno != ENOENT) log::Warning("{}", Message(ErrnoStatus(errno, "renaming " + from)));
  return "";
}

void LayerFolders::CollectUnused() {
  std::vector<std::string> gone;
  for (const std::string& name : ListFolder(TrashFolder())) gone.push_back(TrashFolder() + "/" + name);
  for (const std::string& name : ListFolder(paths_.LayersFolder())) {
    auto layer = oci::LayerDigest::Parse("sha256:" + name);
    if (!layer.ok()) {
      gone.push_back(paths_.LayersFolder() + "/" + name);
      continue;
    }
    MutexLock lock(mutex_);
    if (keep_all_ || holders_.count(*layer) > 0) continue;
    std::string moved = MoveAway(*layer);
    if (moved.empty()) continue;
    numbers_.Free(*layer);
    gone.push_back(std::move(moved));
  }
  for (const std::string& path : gone) Delete(path);
}

void LayerFolders::KeepAll() {
  stop_.request_stop();
  MutexLock lock(mutex_);
  keep_all_ = true;
}

}  // namespace soci
