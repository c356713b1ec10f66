#include "indexer/registry/remote_blob.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "indexer/registry/range_reader.h"
#include "indexer/registry/registry_call.h"

namespace soci {
namespace {

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
    return status_;
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

class RemoteBlob final : public ByteSource {
 public:
  RemoteBlob(std::shared_ptr<RegistryCore> core, oci::Reference repository, oci::Descriptor blob)
      : core_(std::move(core)),
        repository_(std::move(repository)),
        blob_(std::move(blob)),
        redirects_(std::make_shared<RedirectMemory>(core_->clock)) {}

  uint64_t size() const override { return static_cast<uint64_t>(blob_.size); }

  Status ReadAt(uint64_t offset, MutableByteSpan out, const FetchContext& context) const override {
    SOCI_RETURN_IF_ERROR(CheckInside(offset, out.size()));
    if (out.empty()) return OkStatus();
    auto sink = std::make_shared<FillingSink>(out);
    auto call = Start(offset, out.size(), context, sink, false);
    if (sink->WaitUntil(std::chrono::steady_clock::now() + context.budget)) return sink->Wait();
    call->Cancel();
    Status status = sink->Wait();
    if (status.code() != absl::StatusCode::kCancelled || context.stop.stop_requested()) return status;
    return absl::DeadlineExceededError(fmt::format("{}: no success within {} ms", What(), context.budget.count()));
  }

  std::shared_ptr<Transfer> StartRead(uint64_t offset, uint64_t length, const FetchContext& context,
                                      std::shared_ptr<ByteSink> sink) const override {
    if (Status status = CheckInside(offset, length); !status.ok() || length == 0) {
      sink->OnEnd(std::move(status));
      return std::make_shared<EndedTransfer>();
    }
    return Start(offset, length, context, std::move(sink), true);
  }

 private:
  std::string What() const {
    return fmt::format("reading blob {} of {}/{}", blob_.digest.ToString(), repository_.host, repository_.repository);
  }

  Status CheckInside(uint64_t offset, uint64_t length) const {
    if (offset <= size() && length <= size() - offset) return OkStatus();
    return absl::OutOfRangeError(
        fmt::format("{}: bytes {}+{} are beyond its end at {}", What(), offset, length, size()));
  }

  std::shared_ptr<Transfer> Start(uint64_t offset, uint64_t length, const FetchContext& context,
                                  std::shared_ptr<ByteSink> sink, bool renew_budget) const {
    CallSpec spec;
    spec.repository = repository_;
    spec.path = "blobs/" + blob_.digest.ToString();
    spec.redirects = redirects_;
    spec.resumes = true;
    spec.renew_budget = renew_budget;
    spec.what = What();
    return RegistryCall::Start(core_, std::move(spec), context,
                               std::make_shared<RangeReader>(offset, length, size(), std::move(sink)));
  }

  const std::shared_ptr<RegistryCore> core_;
  const oci::Reference repository_;
  const oci::Descriptor blob_;
  const std::shared_ptr<RedirectMemory> redirects_;  // used on the network thread only
};

}  // namespace

std::unique_ptr<ByteSource> MakeRemoteBlob(std::shared_ptr<RegistryCore> core, oci::Reference repository,
                                           oci::Descriptor blob) {
  return std::make_unique<RemoteBlob>(std::move(core), std::move(repository), std::move(blob));
}

}  // namespace soci
