#include "snapshotter/unpack/ordered_download.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <optional>
#include <stop_token>
#include <utility>

#include "fuse/fetch/fetch_guest.h"
#include "indexer/base/byte_source.h"

namespace soci {

class OrderedDownload final : public ByteStream, public FetchGuest::Listener {
 public:
  OrderedDownload(const ByteSource& source, const FetchContext& context, DownloadWindow& window,
                  const std::string& host)
      : source_(source), context_(context), window_(window), stopped_(context.stop, [&window]() {
          MutexLock lock(window.mutex_);
          window.changed_.NotifyAll();
        }) {
    if (window.scheduler_ != nullptr) guest_.emplace(*window.scheduler_, host, *this);
    MutexLock lock(window.mutex_);
    ++window.downloads_;
  }

  ~OrderedDownload() override SOCI_NO_THREAD_SAFETY_ANALYSIS;

  Result<size_t> Read(MutableByteSpan out) override;

 private:
  // Written by the source's thread up to `filled`, read by the reader below it; both numbers under the window's mutex.
  class Range final : public ByteSink {
   public:
    Range(DownloadWindow& window, FetchGuest* guest, uint64_t begin, ByteBuffer space, size_t size)
        : begin_(begin), window_(window), guest_(guest), size_(size), buffer_(std::move(space)) {
      buffer_.resize(size);
    }

    Status OnBytes(ByteSpan bytes) override {
      const size_t at = written_;
      if (bytes.size() > size_ - at) return absl::InternalError("a range brought more than was asked for");
      std::memcpy(buffer_.data() + at, bytes.data(), bytes.size());
      written_ += bytes.size();
      MutexLock lock(window_.mutex_);
      filled = written_;
      window_.changed_.NotifyAll();
      return OkStatus();
    }

    void OnEnd(Status status) override {
      if (status.ok() && written_ < size_) status = absl::UnavailableError("a range ended early");
      if (guest_ != nullptr) guest_->Leave();  // it may go as soon as the end is known
      MutexLock lock(window_.mutex_);
      end = std::move(status);
      ++window_.free_connections_;
      window_.changed_.NotifyAll();
    }

    uint64_t begin() const { return begin_; }
    size_t size() const { return size_; }
    const std::byte* data() const { return buffer_.data(); }
    ByteBuffer TakeBuffer() { return std::move(buffer_); }

    // Under the window's mutex.
    size_t filled = 0;
    size_t consumed = 0;
    std::optional<Status> end;
    std::shared_ptr<Transfer> transfer;

   private:
    const uint64_t begin_;
    DownloadWindow& window_;
    FetchGuest* const guest_;
    const size_t size_;
    ByteBuffer buffer_;
    size_t written_ = 0;  // the source's thread
  };

  std::shared_ptr<Range> NextRange() SOCI_REQUIRES(window_.mutex_);
  std::shared_ptr<Range> FirstRange() SOCI_REQUIRES(window_.mutex_);
  void Start(const std::shared_ptr<Range>& range);
  void DropFront() SOCI_REQUIRES(window_.mutex_);
  bool HasRoom() SOCI_REQUIRES(window_.mutex_);
  std::vector<std::shared_ptr<Transfer>> UnderWay() SOCI_REQUIRES(window_.mutex_);
  void OnPause(bool paused) override;
  void OnRoom() override;

  const ByteSource& source_;
  const FetchContext context_;
  DownloadWindow& window_;
  std::stop_callback<std::function<void()>> stopped_;
  // Under the window's mutex.
  uint64_t next_ = 0;                          // where the next range begins
  std::deque<std::shared_ptr<Range>> ranges_;  // in order
  bool paused_ = false;
  std::optional<FetchGuest> guest_;  // last: it calls back
};

OrderedDownload::~OrderedDownload() {
  std::vector<std::shared_ptr<Transfer>> under_way;
  {
    MutexLock lock(window_.mutex_);
    under_way = UnderWay();
  }
  for (const auto& transfer : under_way) transfer->Cancel();
  {
    MutexLock lock(window_.mutex_);
    while (!ranges_.empty()) {
      while (!ranges_.front()->end) window_.changed_.Wait(window_.mutex_);
      DropFront();
    }
    if (--window_.downloads_ == 0) window_.spare_ = {};
  }
  guest_.reset();
}

std::vector<std::shared_ptr<Transfer>> OrderedDownload::UnderWay() {
  std::vector<std::shared_ptr<Transfer>> under_way;
  for (const auto& range : ranges_) {
    if (!range->end && range->transfer != nullptr) under_way.push_back(range->transfer);
  }
  return under_way;
}

void OrderedDownload::OnPause(bool paused) {
  std::vector<std::shared_ptr<Transfer>> under_way;
  {
    MutexLock lock(window_.mutex_);
    paused_ = paused;
    under_way = UnderWay();
  }
  for (const auto& transfer : under_way) paused ? transfer->Pause() : transfer->Resume();
}

void OrderedDownload::OnRoom() {
  MutexLock lock(window_.mutex_);
  window_.changed_.NotifyAll();
}

void OrderedDownload::DropFront() {
  window_.spare_.push_back(ranges_.front()->TakeBuffer());
  ranges_.pop_front();
  ++window_.free_ranges_;
  window_.changed_.NotifyAll();
}

bool OrderedDownload::HasRoom() {
  const bool wants = next_ < source_.size() && window_.free_connections_ > 0 && window_.free_ranges_ > 0 &&
                     (window_.starving_ == 0 || ranges_.empty());
  return wants && (!guest_ || guest_->TryEnter());
}

// The next range to fetch, if there is room for it.
std::shared_ptr<OrderedDownload::Range> OrderedDownload::NextRange() {
  if (!HasRoom()) return nullptr;
  --window_.free_connections_;
  --window_.free_ranges_;
  ByteBuffer space;
  if (!window_.spare_.empty()) {
    space = std::move(window_.spare_.back());
    window_.spare_.pop_back();
  }
  const uint64_t size = std::min(window_.options_.range, source_.size() - next_);
  ranges_.push_back(std::make_shared<Range>(window_, guest_ ? &*guest_ : nullptr, next_, std::move(space),
                                            static_cast<size_t>(size)));
  next_ += size;
  return ranges_.back();
}

// The same, waiting for room, and before those who have something to read. Null if it was stopped.
std::shared_ptr<OrderedDownload::Range> OrderedDownload::FirstRange() {
  ++window_.starving_;
  std::shared_ptr<Range> first;
  while (!context_.stop.stop_requested() && (first = NextRange()) == nullptr) window_.changed_.Wait(window_.mutex_);
  --window_.starving_;
  return first;
}

void OrderedDownload::Start(const std::shared_ptr<Range>& range) {
  const auto transfer = source_.StartRead(range->begin(), range->size(), context_, range);
  bool paused = false;
  {
    MutexLock lock(window_.mutex_);
    range->transfer = transfer;
    paused = paused_ && !range->end;
  }
  // If it is to go on meanwhile, OnPause finds the transfer, but may have come before this.
  if (!paused || transfer == nullptr) return;
  transfer->Pause();
  MutexLock lock(window_.mutex_);
  if (!paused_) transfer->Resume();
}

Result<size_t> OrderedDownload::Read(MutableByteSpan out) {
  while (true) {
    std::shared_ptr<Range> start;
    const std::byte* bytes = nullptr;
    size_t count = 0;
    {
      MutexLock lock(window_.mutex_);
      while (!ranges_.empty() && ranges_.front()->consumed == ranges_.front()->size() && ranges_.front()->end)
        DropFront();
      start = NextRange();
      if (start == nullptr) {
        if (context_.stop.stop_requested()) return absl::CancelledError("it was stopped");
        if (ranges_.empty()) {
          if (next_ == source_.size()) return size_t{0};
          start = FirstRange();
        }
      }
      if (start == nullptr && !ranges_.empty()) {
        Range& front = *ranges_.front();
        if (front.filled == front.consumed) {
          if (front.end && !front.end->ok()) return *front.end;
          window_.changed_.Wait(window_.mutex_);
          continue;
        }
        count = std::min(out.size(), front.filled - front.consumed);
        bytes = front.data() + front.consumed;
        front.consumed += count;
      }
    }
    if (start != nullptr) Start(start);
    if (count == 0) continue;
    std::memcpy(out.data(), bytes, count);
    return count;
  }
}

std::unique_ptr<ByteStream> MakeOrderedDownload(const ByteSource& source, const FetchContext& context,
                                                DownloadWindow& window, const std::string& host) {
  return std::make_unique<OrderedDownload>(source, context, window, host);
}

}  // namespace soci
