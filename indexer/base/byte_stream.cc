#include "indexer/base/byte_stream.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <thread>
#include <utility>

#include "indexer/base/byte_source.h"
#include "indexer/base/mutex.h"

namespace soci {
namespace {

// The queue between the source's thread and the reader. The source's thread waits when the window is full and the
// source reads by itself (a local one); a remote one is paused instead, so that its network thread never waits.
class StreamQueue final : public ByteSink {
 public:
  explicit StreamQueue(size_t window) : window_(window) {}

  Status OnBytes(ByteSpan bytes) override {
    std::shared_ptr<Transfer> pause;
    {
      MutexLock lock(mutex_);
      if (abandoned_) return absl::CancelledError("the reader has gone");
      pieces_.emplace_back(bytes.begin(), bytes.end());
      held_ += bytes.size();
      changed_.NotifyAll();
      if (transfer_ == nullptr) {
        // Not yet returned from StartRead: a local source on its own thread. Block it here.
        while (held_ >= window_ && !abandoned_ && transfer_ == nullptr) changed_.Wait(mutex_);
      }
      if (held_ >= window_ && transfer_ != nullptr && !paused_) {
        paused_ = true;
        pause = transfer_;
      }
    }
    if (pause) {
      pause->Pause();
      // A reader may have come in between: its Resume then was before our Pause.
      MutexLock lock(mutex_);
      if (paused_) pause.reset();
    }
    if (pause) pause->Resume();
    return OkStatus();
  }

  void OnEnd(Status status) override {
    {
      MutexLock lock(mutex_);
      ended_ = true;
      end_ = std::move(status);
    }
    changed_.NotifyAll();
  }

  void SetTransfer(std::shared_ptr<Transfer> transfer) {
    MutexLock lock(mutex_);
    transfer_ = std::move(transfer);
    changed_.NotifyAll();
  }

  Result<size_t> Read(MutableByteSpan out) {
    std::shared_ptr<Transfer> resume;
    size_t taken = 0;
    {
      MutexLock lock(mutex_);
      while (pieces_.empty() && !ended_) changed_.Wait(mutex_);
      if (pieces_.empty()) {
        if (!end_.ok()) return end_;
        return size_t{0};
      }
      while (taken < out.size() && !pieces_.empty()) {
        const ByteBuffer& front = pieces_.front();
        size_t count = std::min(out.size() - taken, front.size() - consumed_);
        std::memcpy(out.data() + taken, front.data() + consumed_, count);
        taken += count;
        consumed_ += count;
        if (consumed_ == front.size()) {
          pieces_.pop_front();
          consumed_ = 0;
        }
      }
      held_ -= taken;
      if (paused_ && held_ < window_ / 2) {
        paused_ = false;
        resume = transfer_;
      }
    }
    changed_.NotifyAll();
    if (resume) resume->Resume();
    return taken;
  }

  void Abandon() {
    std::shared_ptr<Transfer> cancel;
    {
      MutexLock lock(mutex_);
      abandoned_ = true;
      cancel = transfer_;
    }
    changed_.NotifyAll();
    if (cancel) cancel->Cancel();
  }

 private:
  const size_t window_;
  Mutex mutex_;  // a leaf
  CondVar changed_;
  std::deque<ByteBuffer> pieces_ SOCI_GUARDED_BY(mutex_);
  size_t consumed_ SOCI_GUARDED_BY(mutex_) = 0;  // of the front piece
  size_t held_ SOCI_GUARDED_BY(mutex_) = 0;
  std::shared_ptr<Transfer> transfer_ SOCI_GUARDED_BY(mutex_);
  bool paused_ SOCI_GUARDED_BY(mutex_) = false;
  bool ended_ SOCI_GUARDED_BY(mutex_) = false;
  bool abandoned_ SOCI_GUARDED_BY(mutex_) = false;
  Status end_ SOCI_GUARDED_BY(mutex_);
};

class SourceStream final : public ByteStream {
 public:
  SourceStream(const ByteSource& source, const FetchContext& context, size_t window)
      : queue_(std::make_shared<StreamQueue>(window)) {
    starter_ = std::thread(
        [queue = queue_, &source, context] { queue->SetTransfer(source.StartRead(0, source.size(), context, queue)); });
  }
  ~SourceStream() override {
    queue_->Abandon();
    starter_.join();
    queue_->Abandon();  // the transfer may have been set in between
  }

  Result<size_t> Read(MutableByteSpan out) override {
    if (out.empty()) return absl::InvalidArgumentError("a stream cannot fill an empty buffer");
    return queue_->Read(out);
  }

 private:
  std::shared_ptr<StreamQueue> queue_;
  std::thread starter_;
};

}  // namespace

std::unique_ptr<ByteStream> MakeSourceStream(const ByteSource& source, const FetchContext& context, size_t window) {
  return std::make_unique<SourceStream>(source, context, window);
}

}  // namespace soci
