#include "indexer/ztoc/block_threads.h"

#include <algorithm>
#include <utility>

namespace soci {
namespace {

constexpr size_t kBlockSize = 256 << 10;
constexpr size_t kBlocks = 8;

}  // namespace

BlockThreads::BlockThreads(std::vector<Reader> readers) : readers_(std::move(readers)), blocks_(kBlocks) {
  for (ByteBuffer& block : blocks_) block.reserve(kBlockSize);
  {
    MutexLock lock(mutex_);
    read_.assign(readers_.size(), 0);
  }
  for (size_t i = 0; i < readers_.size(); ++i) threads_.emplace_back([this, i] { Run(i); });
}

BlockThreads::~BlockThreads() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  changed_.NotifyAll();
  for (std::thread& thread : threads_) thread.join();
}

uint64_t BlockThreads::ReadByAll() const { return *std::min_element(read_.begin(), read_.end()); }

Status BlockThreads::Push(ByteSpan bytes) {
  while (!bytes.empty()) {
    uint64_t number = 0;
    {
      MutexLock lock(mutex_);
      while (!filling_ && handed_ - ReadByAll() == kBlocks) changed_.Wait(mutex_);
      if (!refusal_.ok()) return refusal_;
      number = handed_;
    }
    ByteBuffer& block = blocks_[number % kBlocks];
    if (!std::exchange(filling_, true)) block.clear();
    const size_t count = std::min(bytes.size(), kBlockSize - block.size());
    block.insert(block.end(), bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(count));
    bytes = bytes.subspan(count);
    if (block.size() == kBlockSize) Hand();
  }
  return OkStatus();
}

void BlockThreads::Hand() {
  filling_ = false;
  MutexLock lock(mutex_);
  ++handed_;
  changed_.NotifyAll();
}

Status BlockThreads::Drain() {
  if (filling_) Hand();
  MutexLock lock(mutex_);
  while (ReadByAll() < handed_) changed_.Wait(mutex_);
  return refusal_;
}

void BlockThreads::Run(size_t reader) {
  while (true) {
    uint64_t number = 0;
    bool refused = false;
    {
      MutexLock lock(mutex_);
      while (read_[reader] == handed_ && !stopping_) changed_.Wait(mutex_);
      if (stopping_) return;
      number = read_[reader];
      refused = !refusal_.ok();
    }
    Status status;
    if (!refused) status = readers_[reader](blocks_[number % kBlocks]);
    MutexLock lock(mutex_);
    if (refusal_.ok()) refusal_ = std::move(status);
    ++read_[reader];
    changed_.NotifyAll();
  }
}

}  // namespace soci
