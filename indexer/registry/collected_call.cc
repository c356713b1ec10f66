#include "indexer/registry/collected_call.h"

#include <fmt/format.h>

#include <utility>

namespace soci {
namespace {

// A call that sends much is answered late: the server stores it first.
constexpr std::chrono::seconds kUploadAnswer{120};

class CollectingHandler final : public CallHandler {
 public:
  explicit CollectingHandler(CallContent content) : content_(std::move(content)) {}

  void Prepare(HttpRequest& request) override {
    for (const auto& [name, value] : content_.headers.fields()) request.headers.Add(name, value);
    request.body = content_.body;
    request.body_offset = content_.body_offset;
    request.body_length = content_.body_length;
    if (content_.body != nullptr) request.limits.header = kUploadAnswer;
    result_ = {};
    overflow_ = false;
  }
  Status OnHead(const HttpResponseHead& head, const Url& url) override {
    result_.head = head;
    result_.url = url;
    return OkStatus();
  }
  Status OnBody(ByteSpan bytes) override {
    if (bytes.size() > content_.answer_limit - result_.body.size()) {
      overflow_ = true;
      return absl::ResourceExhaustedError(fmt::format("the answer is longer than {} bytes", content_.answer_limit));
    }
    result_.body += AsText(bytes);
    return OkStatus();
  }
  bool Satisfied() const override { return !overflow_; }
  void OnFinish(Status status) override {
    MutexLock lock(mutex_);
    status_ = std::move(status);
    finished_ = true;
    changed_.NotifyAll();
  }

  // False: not over by then.
  bool WaitUntil(std::chrono::steady_clock::time_point deadline) {
    MutexLock lock(mutex_);
    while (!finished_) {
      if (!changed_.WaitUntil(mutex_, deadline)) return finished_;
    }
    return true;
  }
  void Wait() {
    MutexLock lock(mutex_);
    while (!finished_) changed_.Wait(mutex_);
  }
  Result<CallResult> Take() {
    MutexLock lock(mutex_);
    if (!status_.ok()) return std::exchange(status_, OkStatus());
    return std::move(result_);
  }

 private:
  const CallContent content_;
  CallResult result_;  // network thread until finished_
  bool overflow_ = false;

  Mutex mutex_;  // a leaf
  CondVar changed_;
  bool finished_ SOCI_GUARDED_BY(mutex_) = false;
  Status status_ SOCI_GUARDED_BY(mutex_);
};

}  // namespace

Result<CallResult> CollectCall(std::shared_ptr<RegistryCore> core, CallSpec spec, CallContent content,
                               const FetchContext& context) {
  auto handler = std::make_shared<CollectingHandler>(std::move(content));
  std::string what = spec.what;
  auto call = RegistryCall::Start(std::move(core), std::move(spec), context, handler);
  // The call keeps its budget itself where it can; a helper or a probe that somebody else waits for may take longer.
  if (!handler->WaitUntil(std::chrono::steady_clock::now() + context.budget)) {
    call->Cancel();
    handler->Wait();
    Result<CallResult> late = handler->Take();
    if (late.status().code() != absl::StatusCode::kCancelled || context.stop.stop_requested()) return late;
    return absl::DeadlineExceededError(fmt::format("{}: no success within {} ms", what, context.budget.count()));
  }
  return handler->Take();
}

}  // namespace soci
