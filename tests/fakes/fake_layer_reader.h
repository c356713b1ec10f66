// Serves the contents of a FakeLayerTable from memory. Reads of a held inode wait until Release answers them from the
// calling thread. Any thread.
#pragma once

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>
#include <vector>

#include "fuse/layer/layer_reader.h"
#include "indexer/base/mutex.h"
#include "tests/fakes/fake_layer_table.h"

namespace soci::test {

class FakeLayerReader : public LayerReader {
 public:
  explicit FakeLayerReader(FakeLayerTable& table) : table_(table) { table_.Number(); }

  const LayerTable& table() const override { return table_; }

  void Read(InodeId file, uint64_t offset, size_t size, ReadReply reply) override {
    {
      MutexLock lock(mutex_);
      ++reads_;
      if (file == held_) {
        waiting_.push_back({offset, size, std::move(reply)});
        arrived_.NotifyAll();
        return;
      }
      if (file == broken_) return reply(absl::UnavailableError("the network is down"));
    }
    Answer(file, offset, size, reply);
  }

  void Hold(InodeId file) {
    MutexLock lock(mutex_);
    held_ = file;
  }
  void Break(InodeId file) {
    MutexLock lock(mutex_);
    broken_ = file;
  }
  void WaitForHeld(size_t count) {
    MutexLock lock(mutex_);
    while (waiting_.size() < count) arrived_.Wait(mutex_);
  }
  void Release() {
    std::vector<Waiting> ready;
    std::optional<InodeId> file;
    {
      MutexLock lock(mutex_);
      ready.swap(waiting_);
      file = std::exchange(held_, std::nullopt);
    }
    for (Waiting& read : ready) Answer(*file, read.offset, read.size, read.reply);
  }
  // Forgets the held reads without an answer.
  void Drop() {
    std::vector<Waiting> dropped;
    MutexLock lock(mutex_);
    dropped.swap(waiting_);
    held_.reset();
  }
  uint64_t reads() const {
    MutexLock lock(mutex_);
    return reads_;
  }

 private:
  struct Waiting {
    uint64_t offset;
    size_t size;
    ReadReply reply;
  };

  void Answer(InodeId file, uint64_t offset, size_t size, const ReadReply& reply) {
    const FakeInode* inode = table_.Find(file);
    if (!inode) return reply(ErrnoStatus(ESTALE, "reading"));
    std::string_view content = inode->content;
    content.remove_prefix(std::min<size_t>(offset, content.size()));
    reply(AsBytes(content.substr(0, size)));
  }

  FakeLayerTable& table_;
  mutable Mutex mutex_;
  CondVar arrived_;
  std::optional<InodeId> held_ SOCI_GUARDED_BY(mutex_);
  std::optional<InodeId> broken_ SOCI_GUARDED_BY(mutex_);
  uint64_t reads_ SOCI_GUARDED_BY(mutex_) = 0;
  std::vector<Waiting> waiting_ SOCI_GUARDED_BY(mutex_);
};

}  // namespace soci::test
