#include <curl/curl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <map>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "indexer/base/mutex.h"
#include "indexer/net/curl_transfer.h"
#include "indexer/net/http_transport.h"

namespace soci {
namespace {

using SteadyClock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// Limits are checked this often; they are seconds long.
constexpr milliseconds kLimitCheckEvery{20};
constexpr size_t kSpareHandles = 64;

void InitCurlOnce() {
  static const CURLcode code = curl_global_init(CURL_GLOBAL_DEFAULT);
  (void)code;
}

// The network thread's loop. Shared with the transfers' handles, which may outlive the transport.
class CurlLoop final : public TransferLoop, public std::enable_shared_from_this<CurlLoop> {
 public:
  explicit CurlLoop(CurlTransportOptions options) : options_(std::move(options)), multi_(curl_multi_init()) {
    curl_multi_setopt(multi_, CURLMOPT_PIPELINING, CURLPIPE_NOTHING);
    curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, options_.idle_connections);
  }
  ~CurlLoop() override {
    for (CURL* easy : spare_) curl_easy_cleanup(easy);
    curl_multi_cleanup(multi_);
  }

  void Post(std::function<void()> task) override {
    {
      MutexLock lock(mutex_);
      if (stopping_) return;
      posted_.push_back(std::move(task));
    }
    curl_multi_wakeup(multi_);
  }

  void PostAfter(milliseconds delay, std::function<void()> task) {
    if (delay.count() <= 0) return Post(std::move(task));
    Post([this, due = SteadyClock::now() + delay, task = std::move(task)]() mutable {
      timers_.emplace(due, std::move(task));
    });
  }

  void Begin(const std::shared_ptr<CurlTransfer>& transfer) {
    Post([this, transfer] { Add(transfer); });
  }

  void FinishCancelled(const std::shared_ptr<CurlTransfer>& transfer) override {
    // Not among the active: it has ended, or its Begin has seen the mark and ended it.
    if (transfer->easy() == nullptr || !active_.contains(transfer->easy())) return;
    End(transfer, [](CurlTransfer& t) { t.FinishFromCurl(CURLE_ABORTED_BY_CALLBACK); });
  }

  void Run() {
    // OpenSSL writes to sockets without MSG_NOSIGNAL.
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
    pthread_setname_np(pthread_self(), "net");
    while (RunPosted()) {
      RunTimers();
      CheckLimits();
      int running = 0;
      curl_multi_perform(multi_, &running);
      CollectFinished();
      curl_multi_poll(multi_, nullptr, 0, static_cast<int>(PollTime().count()), nullptr);
    }
    Drain();
  }

  void Stop() {
    {
      MutexLock lock(mutex_);
      stopping_ = true;
    }
    curl_multi_wakeup(multi_);
  }

 private:
  bool RunPosted() {
    std::vector<std::function<void()>> tasks;
    {
      MutexLock lock(mutex_);
      tasks.swap(posted_);
      if (stopping_) posted_.swap(tasks);  // Drain deals with them
      if (stopping_) return false;
    }
    for (auto& task : tasks) task();
    return true;
  }

  void RunTimers() {
    SteadyClock::time_point now = SteadyClock::now();
    while (!timers_.empty() && timers_.begin()->first <= now) {
      std::function<void()> task = std::move(timers_.begin()->second);
      timers_.erase(timers_.begin());
      task();
    }
  }

  milliseconds PollTime() {
    milliseconds wait = active_.empty() ? milliseconds(60'000) : milliseconds(100);
    {
      MutexLock lock(mutex_);
      if (!posted_.empty() || stopping_) return milliseconds(0);
    }
    if (!timers_.empty()) {
      auto left = std::chrono::ceil<milliseconds>(timers_.begin()->first - SteadyClock::now());
      wait = std::clamp(left, milliseconds(0), wait);
    }
    return wait;
  }

  void Add(const std::shared_ptr<CurlTransfer>& transfer) {
    if (transfer->cancelled()) return transfer->FinishFromCurl(CURLE_ABORTED_BY_CALLBACK);
    CURL* easy = TakeHandle();
    Status status = easy == nullptr ? absl::ResourceExhaustedError("no memory for a transfer")
                                    : transfer->Prepare(easy, options_, sockets_);
    if (!status.ok()) {
      if (easy != nullptr) ReturnHandle(easy);
      return transfer->Finish(std::move(status));
    }
    active_.emplace(easy, transfer);
    if (CURLMcode code = curl_multi_add_handle(multi_, easy); code != CURLM_OK) {
      End(transfer, [code](CurlTransfer& t) {
        t.Finish(absl::InternalError(fmt::format("starting a transfer: {}", curl_multi_strerror(code))));
      });
    }
  }

  void CheckLimits() {
    SteadyClock::time_point now = SteadyClock::now();
    if (now - limits_checked_ < kLimitCheckEvery) return;
    limits_checked_ = now;
    std::vector<std::pair<std::shared_ptr<CurlTransfer>, Status>> over;
    for (auto& [easy, transfer] : active_) {
      if (Status status = transfer->CheckLimits(now); !status.ok()) over.emplace_back(transfer, std::move(status));
    }
    for (auto& [transfer, status] : over) {
      End(transfer, [&status = status](CurlTransfer& t) { t.Finish(std::move(status)); });
    }
  }

  void CollectFinished() {
    int left = 0;
    while (CURLMsg* message = curl_multi_info_read(multi_, &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      CURLcode code = message->data.result;
      auto found = active_.find(message->easy_handle);
      if (found == active_.end()) continue;
      std::shared_ptr<CurlTransfer> transfer = found->second;
      End(transfer, [code](CurlTransfer& t) { t.FinishFromCurl(code); });
    }
  }

  template <typename F>
  void End(const std::shared_ptr<CurlTransfer>& transfer, F finish) {
    CURL* easy = transfer->easy();
    std::shared_ptr<CurlTransfer> alive = transfer;
    active_.erase(easy);
    curl_multi_remove_handle(multi_, easy);
    finish(*alive);
    ReturnHandle(easy);
  }

  // The transport goes: everything on its way and everything that waited to start ends as cancelled.
  void Drain() {
    std::vector<std::function<void()>> tasks;
    {
      MutexLock lock(mutex_);
      tasks.swap(posted_);
    }
    for (auto& task : tasks) task();
    while (!active_.empty()) {
      std::shared_ptr<CurlTransfer> transfer = active_.begin()->second;
      End(transfer, [](CurlTransfer& t) { t.Finish(absl::CancelledError("the transport was closed")); });
    }
    timers_.clear();
  }

  CURL* TakeHandle() {
    if (spare_.empty()) return curl_easy_init();
    CURL* easy = spare_.back();
    spare_.pop_back();
    return easy;
  }

  void ReturnHandle(CURL* easy) {
    if (spare_.size() >= kSpareHandles) return curl_easy_cleanup(easy);
    curl_easy_reset(easy);
    spare_.push_back(easy);
  }

  const CurlTransportOptions options_;
  OpenSockets sockets_;  // outlives the connections, which are multi_'s
  CURLM* const multi_;

  // Network thread only.
  std::unordered_map<CURL*, std::shared_ptr<CurlTransfer>> active_;
  std::multimap<SteadyClock::time_point, std::function<void()>> timers_;
  std::vector<CURL*> spare_;
  SteadyClock::time_point limits_checked_;

  Mutex mutex_;  // a leaf
  std::vector<std::function<void()>> posted_ SOCI_GUARDED_BY(mutex_);
  bool stopping_ SOCI_GUARDED_BY(mutex_) = false;
};

class CurlTransport final : public HttpTransport {
 public:
  explicit CurlTransport(CurlTransportOptions options) : loop_(std::make_shared<CurlLoop>(std::move(options))) {
    thread_ = std::thread([loop = loop_] { loop->Run(); });
  }
  ~CurlTransport() override {
    loop_->Stop();
    thread_.join();
  }

  std::shared_ptr<Transfer> Start(HttpRequest request, std::shared_ptr<HttpExchange> exchange) override {
    auto transfer = std::make_shared<CurlTransfer>(loop_, std::move(request), std::move(exchange));
    loop_->Begin(transfer);
    return transfer;
  }

  void After(milliseconds delay, std::function<void()> task) override { loop_->PostAfter(delay, std::move(task)); }

 private:
  const std::shared_ptr<CurlLoop> loop_;
  std::thread thread_;
};

}  // namespace

std::unique_ptr<HttpTransport> MakeCurlTransport(CurlTransportOptions options) {
  InitCurlOnce();
  return std::make_unique<CurlTransport>(std::move(options));
}

}  // namespace soci
