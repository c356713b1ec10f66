#include "indexer/registry/remote_blob.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "indexer/registry/blob_spool.h"
#include "indexer/registry/range_reader.h"
#include "indexer/registry/registry_call.h"

namespace soci {
namespace {

// A whole blob on its way to the spool: it keeps what came, so it is not left to its readers to try again; but some of
// them may be waited for.
constexpr RetryPolicy kSpoolRetry{.longest_wait = std::chrono::seconds(2), .attempts = 30};

// Copies what comes into the caller's memory, which lives until Wait has returned.
class FillingSink final : public ByteSink {
 public:
  explicit FillingSink(MutableByteSpan out) : left_(out) {}

  Status OnBytes(ByteSpan bytes) override {
    if (bytes.size() > left_.size()) return absl::InternalError("a read brought more than was asked for");
    std::memcpy(left_.data(), bytes.data(), bytes.size());
    left_ = left_.subspan(bytes.size());
    return OkStatus();
  }
  void OnEnd(Status status) override {
    MutexLock lock(mutex_);
    status_ = std::move(status);
    ended_ = true;
    changed_.NotifyAll();
  }
  // False: not over by then.
  bool WaitUntil(std::chrono::steady_clock::time_point deadline) {
    MutexLock lock(mutex_);
    while (!ended_) {
      if (!changed_.WaitUntil(mutex_, deadline)) return ended_;
    }
    return true;
  }
  Status Wait() {
    MutexLock lock(mutex_);
    while (!ended_) changed_.Wait(mutex_);
    return std::exchange(status_, OkStatus());
  }

 private:
  MutableByteSpan left_;  // network thread
  Mutex mutex_;           // a leaf
  CondVar changed_;
  bool ended_ SOCI_GUARDED_BY(mutex_) = false;
  Status status_ SOCI_GUARDED_BY(mutex_);
};

class EndedTransfer final : public Transfer {
 public:
  void Pause() override {}
  void Resume() override {}
  void Cancel() override {}
};

// The reader's handle on a read, whoever delivers it at the moment.
class ReadHandle final : public Transfer {
 public:
  void Pause() override {
    MutexLock lock(mutex_);
    paused_ = true;
    if (current_) current_->Pause();
  }
  void Resume() override {
    MutexLock lock(mutex_);
    paused_ = false;
    if (current_) current_->Resume();
  }
  void Cancel() override {
    MutexLock lock(mutex_);
    cancelled_ = true;
    if (current_) current_->Cancel();
  }
  bool IsToldToWait() const override {
    MutexLock lock(mutex_);
    return current_ && current_->IsToldToWait();
  }
  void Set(std::shared_ptr<Transfer> transfer) {
    MutexLock lock(mutex_);
    current_ = std::move(transfer);
    if (paused_) current_->Pause();
    if (cancelled_) current_->Cancel();
  }

 private:
  mutable Mutex mutex_;  // before the locks of calls and spools
  std::shared_ptr<Transfer> current_ SOCI_GUARDED_BY(mutex_);
  bool paused_ SOCI_GUARDED_BY(mutex_) = false;
  bool cancelled_ SOCI_GUARDED_BY(mutex_) = false;
};

// Reads what is left of a read from the server, whatever that costs. From is where to go on.
using ReadDirectly = std::function<void(uint64_t from, std::shared_ptr<ByteSink> sink)>;

// Ends a spooled read when its context is stopped, and keeps everything it needs alive until it has ended.
class SpooledSink final : public ByteSink {
 public:
  // `spool`: whether there is one is asked when the read fails. `directly` holds what the read needs.
  SpooledSink(uint64_t begin, std::shared_ptr<ByteSink> sink, std::shared_ptr<BlobSpool> spool, ReadDirectly directly,
              std::stop_token stop, std::weak_ptr<ReadHandle> handle)
      : position_(begin),
        sink_(std::move(sink)),
        spool_(std::move(spool)),
        directly_(std::move(directly)),
        stop_callback_(std::move(stop), [handle = std::move(handle)] {
          if (auto live = handle.lock()) live->Cancel();
        }) {}
  Status OnBytes(ByteSpan bytes) override {
    position_ += bytes.size();
    sink_status_ = sink_->OnBytes(bytes);
    return sink_status_;
  }
  void OnEnd(Status status) override {
    const std::shared_ptr<BlobSpool> spool = std::move(spool_);
    ReadDirectly directly = std::exchange(directly_, nullptr);
    if (!status.ok() && sink_status_.ok() && !absl::IsCancelled(status) && spool->unusable()) {
      return directly(position_, sink_);
    }
    // Whoever hears of the end may take the transport down.
    directly = nullptr;
    sink_->OnEnd(std::move(status));
  }

 private:
  uint64_t position_;  // the spool's thread
  const std::shared_ptr<ByteSink> sink_;
  Status sink_status_;
  std::shared_ptr<BlobSpool> spool_;
  ReadDirectly directly_;
  std::stop_callback<std::function<void()>> stop_callback_;
};

// One read's way to the spool.
class ToSpool final : public RangeDiversion {
 public:
  ToSpool(std::shared_ptr<BlobSpool> spool, std::shared_ptr<ReadHandle> handle, std::stop_token stop,
          ReadDirectly directly)
      : spool_(std::move(spool)), handle_(std::move(handle)), stop_(std::move(stop)), directly_(std::move(directly)) {}
  bool IsOpen() const override { return spool_->active(); }
  bool Open() override { return spool_->Start(); }
  void Take(uint64_t begin, uint64_t end, std::shared_ptr<ByteSink> sink) override {
    auto spooled = std::make_shared<SpooledSink>(begin, std::move(sink), spool_, directly_, stop_, handle_);
    handle_->Set(spool_->Read(begin, end, std::move(spooled)));
  }

 private:
  const std::shared_ptr<BlobSpool> spool_;
  const std::shared_ptr<ReadHandle> handle_;
  const std::stop_token stop_;
  const ReadDirectly directly_;
};

// What all reads of a blob share. Reads keep it alive, so the source may go first.
class BlobReads : public std::enable_shared_from_this<BlobReads> {
 public:
  BlobReads(std::shared_ptr<RegistryCore> core, oci::Reference repository, oci::Descriptor blob)
      : core_(std::move(core)),
        repository_(std::move(repository)),
        blob_(std::move(blob)),
        redirects_(std::make_shared<RedirectMemory>(core_->clock)) {}

  ~BlobReads() {
    MutexLock lock(mutex_);
    if (spool_) spool_->Close();
  }

  uint64_t size() const { return static_cast<uint64_t>(blob_.size); }
  std::string What() const {
    return fmt::format("reading blob {} of {}/{}", blob_.digest.ToString(), repository_.host, repository_.repository);
  }

  std::shared_ptr<Transfer> Start(uint64_t offset, uint64_t length, const FetchContext& context,
                                  std::shared_ptr<ByteSink> sink, bool renew_budget) {
    auto handle = std::make_shared<ReadHandle>();
    std::shared_ptr<RangeDiversion> diversion;
    if (std::shared_ptr<BlobSpool> spool = Spool()) {
      auto directly = [self = shared_from_this(), weak = std::weak_ptr(handle), end = offset + length, context,
                       renew_budget](uint64_t from, std::shared_ptr<ByteSink> rest) {
        auto transfer = self->Call(from, end - from, context, std::move(rest), renew_budget, nullptr, {});
        if (auto live = weak.lock()) live->Set(std::move(transfer));
      };
      diversion = std::make_shared<ToSpool>(spool, handle, context.stop, std::move(directly));
    }
    handle->Set(Call(offset, length, context, std::move(sink), renew_budget, std::move(diversion), {}));
    return handle;
  }

 private:
  std::shared_ptr<Transfer> Call(uint64_t offset, uint64_t length, const FetchContext& context,
                                 std::shared_ptr<ByteSink> sink, bool renew_budget,
                                 std::shared_ptr<RangeDiversion> diversion, std::optional<RetryPolicy> retry) {
    CallSpec spec;
    spec.retry = retry;
    spec.repository = repository_;
    spec.path = "blobs/" + blob_.digest.ToString();
    spec.redirects = redirects_;
    spec.resumes = true;
    spec.renew_budget = renew_budget;
    spec.what = What();
    return RegistryCall::Start(
        core_, std::move(spec), context,
        std::make_shared<RangeReader>(offset, length, size(), std::move(sink), std::move(diversion)));
  }

  // Made with the first read; null without a directory for it. It refers back weakly: it lives in here.
  std::shared_ptr<BlobSpool> Spool() {
    const RegistryClientOptions& options = core_->options;
    if (options.spool_threads == nullptr || options.spool_directory.empty()) return nullptr;
    MutexLock lock(mutex_);
    if (spool_ == nullptr) {
      auto start = [weak = weak_from_this()](std::shared_ptr<ByteSink> sink) -> std::shared_ptr<Transfer> {
        auto self = weak.lock();
        if (self == nullptr) {
          sink->OnEnd(absl::CancelledError("the blob was closed"));
          return nullptr;
        }
        return self->Call(0, self->size(), FetchContext{}, std::move(sink), true, nullptr, kSpoolRetry);
      };
      spool_ = std::make_shared<BlobSpool>(blob_, options.spool_directory, *options.spool_threads, std::move(start));
    }
    return spool_;
  }

  const std::shared_ptr<RegistryCore> core_;
  const oci::Reference repository_;
  const oci::Descriptor blob_;
  const std::shared_ptr<RedirectMemory> redirects_;  // used on the network thread only
  Mutex mutex_;                                      // a leaf
  std::shared_ptr<BlobSpool> spool_ SOCI_GUARDED_BY(mutex_);
};

class RemoteBlob final : public ByteSource {
 public:
  explicit RemoteBlob(std::shared_ptr<BlobReads> reads) : reads_(std::move(reads)) {}

  uint64_t size() const override { return reads_->size(); }

  Status ReadAt(uint64_t offset, MutableByteSpan out, const FetchContext& context) const override {
    SOCI_RETURN_IF_ERROR(CheckInside(offset, out.size()));
    if (out.empty()) return OkStatus();
    auto sink = std::make_shared<FillingSink>(out);
    auto transfer = reads_->Start(offset, out.size(), context, sink, false);
    if (sink->WaitUntil(std::chrono::steady_clock::now() + context.budget)) return sink->Wait();
    transfer->Cancel();
    Status status = sink->Wait();
    if (status.code() != absl::StatusCode::kCancelled || context.stop.stop_requested()) return status;
    return absl::DeadlineExceededError(
        fmt::format("{}: no success within {} ms", reads_->What(), context.budget.count()));
  }

  std::shared_ptr<Transfer> StartRead(uint64_t offset, uint64_t length, const FetchContext& context,
                                      std::shared_ptr<ByteSink> sink) const override {
    if (Status status = CheckInside(offset, length); !status.ok() || length == 0) {
      sink->OnEnd(std::move(status));
      return std::make_shared<EndedTransfer>();
    }
    return reads_->Start(offset, length, context, std::move(sink), true);
  }

 private:
  Status CheckInside(uint64_t offset, uint64_t length) const {
    if (offset <= size() && length <= size() - offset) return OkStatus();
    return absl::OutOfRangeError(
        fmt::format("{}: bytes {}+{} are beyond its end at {}", reads_->What(), offset, length, size()));
  }

  const std::shared_ptr<BlobReads> reads_;
};

}  // namespace

std::unique_ptr<ByteSource> MakeRemoteBlob(std::shared_ptr<RegistryCore> core, oci::Reference repository,
                                           oci::Descriptor blob) {
  return std::make_unique<RemoteBlob>(
      std::make_shared<BlobReads>(std::move(core), std::move(repository), std::move(blob)));
}

}  // namespace soci
