#include "snapshotter/pull/layer_sync.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "indexer/base/file_io.h"
#include "indexer/base/log.h"

namespace soci {
namespace {

Status SyncFileSystem(const std::string& folder) {
  SOCI_ASSIGN_OR_RETURN(const UniqueFd opened, OpenFile(folder, O_RDONLY | O_DIRECTORY));
  return ::syncfs(opened.get()) == 0 ? OkStatus() : ErrnoStatus(errno, folder);
}

}  // namespace

LayerSync::LayerSync(std::string folder, Delay delay)
    : folder_(std::move(folder)), delay_(delay), thread_([this] { Run(); }) {
  ::pthread_setname_np(thread_.native_handle(), "sync");
}

LayerSync::~LayerSync() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    changed_.NotifyAll();
  }
  thread_.join();
}

void LayerSync::Later(std::function<void()> on_disk) {
  MutexLock lock(mutex_);
  last_ = std::chrono::steady_clock::now();
  if (waiting_.empty()) first_ = last_;
  waiting_.push_back(std::move(on_disk));
  changed_.NotifyAll();
}

std::vector<std::function<void()>> LayerSync::Take() {
  std::vector<std::function<void()>> taken;
  MutexLock lock(mutex_);
  while (!stopping_) {
    if (waiting_.empty()) {
      changed_.Wait(mutex_);
      continue;
    }
    const auto due = std::min(last_ + delay_.quiet, first_ + delay_.longest);
    if (due <= std::chrono::steady_clock::now()) {
      taken.swap(waiting_);
      break;
    }
    changed_.WaitUntil(mutex_, due);
  }
  return taken;
}

void LayerSync::Run() {
  for (;;) {
    const std::vector<std::function<void()>> taken = Take();
    if (taken.empty()) return;
    if (Status synced = SyncFileSystem(folder_); !synced.ok()) {
      log::Warning("syncing complete layers: {}", Message(synced));
      continue;
    }
    for (const auto& on_disk : taken) on_disk();
  }
}

}  // namespace soci
