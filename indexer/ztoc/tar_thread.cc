#include "indexer/ztoc/tar_thread.h"

#include <algorithm>
#include <utility>

namespace soci {
namespace {

constexpr size_t kBlockSize = 256 << 10;
constexpr size_t kBlocks = 8;

}  // namespace

TarThread::TarThread(TarObserver* observer) : toc_(observer) {
  {
    MutexLock lock(mutex_);
    for (size_t i = 0; i < kBlocks; ++i) empty_.emplace_back().reserve(kBlockSize);
  }
  filling_.reserve(kBlockSize);
  thread_ = std::thread([this] { Run(); });
}

TarThread::~TarThread() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    full_.clear();
  }
  changed_.NotifyAll();
  thread_.join();
}

Status TarThread::Push(ByteSpan bytes) {
  while (!bytes.empty()) {
    const size_t count = std::min(bytes.size(), kBlockSize - filling_.size());
    filling_.insert(filling_.end(), bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(count));
    bytes = bytes.subspan(count);
    if (filling_.size() == kBlockSize) SOCI_RETURN_IF_ERROR(Hand());
  }
  return OkStatus();
}

Status TarThread::Hand() {
  MutexLock lock(mutex_);
  while (empty_.empty()) changed_.Wait(mutex_);
  full_.push_back(std::exchange(filling_, std::move(empty_.back())));
  empty_.pop_back();
  changed_.NotifyAll();
  return refusal_;
}

Status TarThread::Drain() {
  if (!filling_.empty()) SOCI_RETURN_IF_ERROR(Hand());
  MutexLock lock(mutex_);
  while (busy_ || !full_.empty()) changed_.Wait(mutex_);
  return refusal_;
}

Status TarThread::Finish() {
  SOCI_RETURN_IF_ERROR(Drain());
  return toc_.Finish();
}

void TarThread::Run() {
  while (true) {
    ByteBuffer block;
    bool refused = false;
    {
      MutexLock lock(mutex_);
      while (full_.empty() && !stopping_) changed_.Wait(mutex_);
      if (stopping_) return;
      block = std::move(full_.front());
      full_.pop_front();
      busy_ = true;
      refused = !refusal_.ok();
    }
    Status status;
    if (!refused) {
      diff_id_.Update(block);
      status = toc_.Push(block);
    }
    block.clear();
    {
      MutexLock lock(mutex_);
      if (!refused) refusal_ = std::move(status);
      empty_.push_back(std::move(block));
      busy_ = false;
    }
    changed_.NotifyAll();
  }
}

}  // namespace soci
