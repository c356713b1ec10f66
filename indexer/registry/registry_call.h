// One request to a registry, seen through to its end: servers in order, authorization, redirects, retries, limits.
//
// The call owns the troubles; its handler owns the content. Attempts follow each other until the handler has what it
// wants or the budget is over. Authorization and a server's own headers go to that server only, never to where it
// redirects. Handler calls and all state are on the network thread; Start, Pause, Resume and Cancel may be called from
// any.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "indexer/base/fetch_context.h"
#include "indexer/base/mutex.h"
#include "indexer/net/url.h"
#include "indexer/oci/reference.h"
#include "indexer/registry/redirect_memory.h"
#include "indexer/registry/registry_core.h"

namespace soci {

class CallHandler {
 public:
  virtual ~CallHandler() = default;
  // Asked before each attempt; not ok ends the call with it.
  virtual Status BeforeAttempt() { return OkStatus(); }
  // Adds headers and body to an attempt that is about to be made; forgets what a broken attempt left, or asks for the
  // rest.
  virtual void Prepare(HttpRequest& request) = 0;
  // A 2xx answer. Not ok: kUnavailable makes another attempt, everything else ends the call.
  virtual Status OnHead(const HttpResponseHead& head, const Url& url) = 0;
  // Not ok: as above. kCancelled with Satisfied() true: enough, the rest is not wanted.
  virtual Status OnBody(ByteSpan bytes) = 0;
  // Everything wanted has arrived; asked when an attempt ends, however it ends.
  virtual bool Satisfied() const = 0;
  // Once, last.
  virtual void OnFinish(Status status) = 0;
};

struct CallSpec {
  std::string method = "GET";
  oci::Reference repository;
  std::string path;          // below /v2/<repository>/, with its query: "blobs/sha256:..."
  std::string absolute_url;  // instead of path: a page or an upload that a server named
  bool push = false;         // asks for the right to push
  HostCapability capability = HostCapability::kPull;
  std::shared_ptr<RedirectMemory> redirects;  // null: the target is not remembered
  bool resumes = false;                       // the handler keeps what came and asks for the rest: bytes are progress
  // A search: one server's "not there" stands where the others cannot be reached. Behind a mirror in a network of its
  // own every search would otherwise wait for an origin that never answers.
  bool absence_counts = false;
  bool renew_budget = false;                        // the budget counts from the last bytes that came
  std::optional<RetryPolicy> retry = std::nullopt;  // instead of the client's
  std::string what;                                 // for errors: "fetching blob sha256:... of host/name"
};

class RegistryCall final : public Transfer, public std::enable_shared_from_this<RegistryCall> {
 public:
  static std::shared_ptr<RegistryCall> Start(std::shared_ptr<RegistryCore> core, CallSpec spec,
                                             const FetchContext& context, std::shared_ptr<CallHandler> handler);
  RegistryCall(std::shared_ptr<RegistryCore> core, CallSpec spec, const FetchContext& context,
               std::shared_ptr<CallHandler> handler);

  void Pause() override;
  void Resume() override;
  void Cancel() override;
  bool IsToldToWait() const override { return told_to_wait_; }

 private:
  class Exchange;
  enum class Verdict { kNone, kAccepted, kRedirect, kDenied, kStorageDenied, kFailed };

  // The attempts.
  void Begin();
  Status ChooseHosts();
  void StartAttempt();
  bool StartAtRememberedTarget();
  void AskRegistry();
  void SendToRegistry(const Grant& grant);
  void Send(const Url& url, HttpHeaders headers, std::shared_ptr<const TlsOptions> tls);

  // One attempt's answer.
  Status OnHead(const HttpResponseHead& head);
  Status JudgeHead(const HttpResponseHead& head);
  Status OnBody(ByteSpan bytes);
  void OnDone(Status status);
  void FollowRedirect();
  void OnDenied();
  void OnStorageDenied();
  void LearnTarget();

  // What comes after an attempt.
  void OnFailed(Status status);
  void TryNextHost(Status status, bool retryable);
  void WaitAndRetry();
  void Finish(Status status);

  bool OnStorage() const { return via_memory_ || !at_registry_; }
  std::chrono::milliseconds BudgetLeft() const;

  const std::shared_ptr<RegistryCore> core_;
  const CallSpec spec_;
  const uint32_t receive_window_;  // of the requests
  const std::chrono::milliseconds budget_;
  const bool asker_retries_;
  std::stop_token stop_;
  std::atomic<bool> cancelled_ = false;
  std::atomic<bool> told_to_wait_ = false;

  Mutex mutex_;  // a leaf; only for Pause and Resume against the change of transfers
  std::shared_ptr<Transfer> transfer_ SOCI_GUARDED_BY(mutex_);
  bool paused_ SOCI_GUARDED_BY(mutex_) = false;

  // Network thread only.
  std::shared_ptr<CallHandler> handler_;
  std::optional<std::stop_callback<std::function<void()>>> stop_callback_;
  std::vector<RegistryHost> hosts_;
  size_t host_index_ = 0;
  std::shared_ptr<AuthRequest> auth_;
  Grant grant_;
  Clock::TimePoint deadline_;
  int attempt_ = 1;          // since the last progress
  int odd_answers_ = 0;      // answers that break the protocol, in a row
  int storage_denials_ = 0;  // in a row
  uint64_t seed_ = 0;
  Status refusal_;        // what the registry said when it last wanted other credentials
  Status round_failure_;  // the worst of the servers asked since the last wait
  bool round_retryable_ = false;
  Status round_absence_;        // the last "not there" of this round
  bool round_trouble_ = false;  // a server that was reached could not answer
  std::optional<std::chrono::milliseconds> retry_after_;

  // This attempt.
  bool asking_ = false;  // for the redirect memory
  bool via_memory_ = false;
  bool at_registry_ = true;
  bool in_flight_ = false;
  bool finished_ = false;
  int hops_ = 0;
  Url url_;
  std::string referer_;
  Verdict verdict_ = Verdict::kNone;
  HttpResponseHead head_;
  std::string error_body_;
  Status handler_status_;
  uint64_t progress_ = 0;  // bytes that the handler kept
};

}  // namespace soci
