#include "indexer/registry/registry_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "indexer/base/log.h"
#include "indexer/base/units.h"
#include "indexer/registry/registry_error.h"
#include "indexer/registry/signed_url.h"

namespace soci {
namespace {

using std::chrono::milliseconds;

constexpr int kMostHops = 5;
constexpr size_t kErrorBodyLimit = 16_KiB;
// An attempt that brought this much is followed by the next without a wait.
constexpr uint64_t kFreeProgress = 16_KiB;
constexpr int kMostStorageDenials = 3;
// A server that breaks the protocol again and again will go on to.
constexpr int kMostOddAnswers = 4;

bool IsRedirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

// What a paused transfer may still bring adds up over connections, and takes the link from the demand that it was
// paused for: six fills may bring 3 MiB. At a round trip of 30 ms it lets each connection have 17 MB/s.
uint32_t ReceiveWindow(FetchClass fetch_class) {
  switch (fetch_class) {
    case FetchClass::kDemand:
      return 0;
    case FetchClass::kReplay:
    case FetchClass::kReadAhead:
    case FetchClass::kFill:
      return 512_KiB;
  }
  return 0;
}

// Where a registry redirects to is trusted as the registry is (its private CA), but is not shown our certificate.
std::shared_ptr<const TlsOptions> StorageTls(const RegistryHost& host) {
  if (host.tls == nullptr || host.tls->client_certificate.empty()) return host.tls;
  auto tls = std::make_shared<TlsOptions>(*host.tls);
  tls->client_certificate.clear();
  tls->client_key.clear();
  return tls;
}

// A status of its own for the handler's thread: Debian's Abseil counts references where ThreadSanitizer cannot see it.
Status Unshared(const Status& status) {
  Status copy(status.code(), std::string(Message(status)));
  std::optional<int> http = HttpStatusOf(status);
  return http ? WithHttpStatus(std::move(copy), *http) : copy;
}

}  // namespace

// One attempt's ear. Keeps the call alive while the transport works for it.
class RegistryCall::Exchange final : public HttpExchange {
 public:
  explicit Exchange(std::shared_ptr<RegistryCall> call) : call_(std::move(call)) {}
  Status OnHead(const HttpResponseHead& head) override { return call_->OnHead(head); }
  Status OnBody(ByteSpan bytes) override { return call_->OnBody(bytes); }
  void OnDone(Status status) override { call_->OnDone(std::move(status)); }

 private:
  const std::shared_ptr<RegistryCall> call_;
};

std::shared_ptr<RegistryCall> RegistryCall::Start(std::shared_ptr<RegistryCore> core, CallSpec spec,
                                                  const FetchContext& context, std::shared_ptr<CallHandler> handler) {
  HttpTransport& transport = core->transport;
  auto call = std::make_shared<RegistryCall>(std::move(core), std::move(spec), context, std::move(handler));
  transport.After({}, [call] { call->Begin(); });
  return call;
}

RegistryCall::RegistryCall(std::shared_ptr<RegistryCore> core, CallSpec spec, const FetchContext& context,
                           std::shared_ptr<CallHandler> handler)
    : core_(std::move(core)),
      spec_(std::move(spec)),
      receive_window_(ReceiveWindow(context.fetch_class)),
      budget_(context.budget),
      asker_retries_(context.asker_retries),
      stop_(context.stop),
      handler_(std::move(handler)) {}

void RegistryCall::Pause() {
  MutexLock lock(mutex_);
  paused_ = true;
  if (transfer_) transfer_->Pause();
}

void RegistryCall::Resume() {
  {
    MutexLock lock(mutex_);
    if (!std::exchange(paused_, false)) return;
    if (transfer_) transfer_->Resume();
  }
  if (!spec_.renew_budget) return;
  core_->transport.After({},
                         [self = shared_from_this()] { self->deadline_ = self->core_->clock.Now() + self->budget_; });
}

void RegistryCall::Cancel() {
  if (cancelled_.exchange(true)) return;
  core_->transport.After({}, [self = shared_from_this()] {
    if (self->finished_) return;
    if (!self->in_flight_) return self->Finish(absl::CancelledError(self->spec_.what + ": cancelled"));
    MutexLock lock(self->mutex_);
    if (self->transfer_) self->transfer_->Cancel();
  });
}

void RegistryCall::Begin() {
  deadline_ = core_->clock.Now() + budget_;
  seed_ = ++core_->calls;
  if (stop_.stop_possible()) {
    stop_callback_.emplace(stop_, [weak = weak_from_this()] {
      if (auto self = weak.lock()) self->Cancel();
    });
  }
  if (Status status = ChooseHosts(); !status.ok()) return Finish(std::move(status));
  StartAttempt();
}

Status RegistryCall::ChooseHosts() {
  Result<std::vector<RegistryHost>> hosts = core_->HostsFor(spec_.repository.host, spec_.capability);
  if (!hosts.ok()) return Annotate(hosts.status(), spec_.what);
  if (hosts->empty()) {
    return absl::FailedPreconditionError(fmt::format("{}: no server is configured for this", spec_.what));
  }
  hosts_ = *std::move(hosts);
  host_index_ = 0;
  if (spec_.absence_counts) {  // servers that do not answer come last: those that do suffice
    auto down = [this](const RegistryHost& host) { return core_->health.IsDown(host.base); };
    if (!down(hosts_.front())) std::erase_if(hosts_, down);
  }
  if (spec_.redirects) {
    std::stable_partition(hosts_.begin(), hosts_.end(),
                          [this](const RegistryHost& host) { return !spec_.redirects->IsMissingAt(host.base); });
  }
  Result<Url> target = Url::Parse(spec_.absolute_url);
  for (size_t i = 0; target.ok() && i < hosts_.size(); ++i) {  // whoever named the address answers for it
    Result<Url> base = Url::Parse(hosts_[i].base);
    if (base.ok() && SameOrigin(*base, *target)) host_index_ = i;
  }
  return OkStatus();
}

milliseconds RegistryCall::BudgetLeft() const {
  return std::chrono::duration_cast<milliseconds>(deadline_ - core_->clock.Now());
}

void RegistryCall::StartAttempt() {
  if (finished_) return;
  if (cancelled_) return Finish(absl::CancelledError(spec_.what + ": cancelled"));
  if (BudgetLeft().count() <= 0) {
    std::string last = round_failure_.ok() ? "" : fmt::format(" (last: {})", Message(round_failure_));
    return Finish(
        absl::DeadlineExceededError(fmt::format("{}: no success within {} ms{}", spec_.what, budget_.count(), last)));
  }
  if (Status status = handler_->BeforeAttempt(); !status.ok()) return Finish(std::move(status));
  verdict_ = Verdict::kNone;
  via_memory_ = false;
  at_registry_ = true;
  hops_ = 0;
  if (spec_.redirects && spec_.absolute_url.empty()) {
    if (StartAtRememberedTarget()) return;
    if (!asking_) {
      bool mine = spec_.redirects->StartAsking([self = shared_from_this()] { self->StartAttempt(); });
      if (!mine) return;
      asking_ = true;
    }
  }
  AskRegistry();
}

bool RegistryCall::StartAtRememberedTarget() {
  const RedirectTarget* target = spec_.redirects->Find();
  if (target == nullptr) return false;
  via_memory_ = true;
  referer_ = target->referer;
  HttpHeaders headers;
  if (!referer_.empty()) headers.Add("Referer", referer_);
  Send(target->url, std::move(headers), target->tls);
  return true;
}

void RegistryCall::AskRegistry() {
  const RegistryHost& host = hosts_[host_index_];
  if (auth_ == nullptr || auth_->host.base != host.base) {
    auth_ = std::make_shared<AuthRequest>();
    auth_->host = host;
    auth_->repository = spec_.repository.repository;
    auth_->scope = fmt::format("repository:{}:{}", spec_.repository.repository, spec_.push ? "pull,push" : "pull");
  }
  core_->authorizer->Get(auth_, [self = shared_from_this()](Result<Grant> grant) {
    if (self->finished_) return;
    if (grant.ok()) return self->SendToRegistry(*grant);
    Status status = grant.status();
    // After a refusal, the refusal is what counts.
    if (!self->refusal_.ok() && status.code() == absl::StatusCode::kUnauthenticated) {
      status = Annotate(self->refusal_, Message(status));
    } else {
      status = Annotate(status, self->spec_.what);
    }
    self->OnFailed(std::move(status));
  });
}

void RegistryCall::SendToRegistry(const Grant& grant) {
  grant_ = grant;
  const RegistryHost& host = hosts_[host_index_];
  std::string text = spec_.absolute_url;
  if (text.empty()) {
    text = fmt::format("{}/{}/{}", host.base, spec_.repository.repository, spec_.path);
    if (!host.name_space.empty()) text += (text.find('?') == std::string::npos ? "?ns=" : "&ns=") + host.name_space;
  }
  Result<Url> url = Url::Parse(text);
  Result<Url> base = Url::Parse(host.base);
  if (!url.ok() || !base.ok()) return OnFailed(Annotate(url.ok() ? base.status() : url.status(), spec_.what));
  HttpHeaders headers;
  at_registry_ = SameOrigin(*url, *base);
  if (at_registry_) {
    headers = host.headers;
    if (!grant.header.empty()) headers.Set("Authorization", grant.header);
  }
  Send(*url, std::move(headers), host.tls);
}

void RegistryCall::Send(const Url& url, HttpHeaders headers, std::shared_ptr<const TlsOptions> tls) {
  url_ = url;
  verdict_ = Verdict::kNone;
  head_ = {};
  error_body_.clear();
  handler_status_ = OkStatus();
  progress_ = 0;
  HttpRequest request;
  request.method = spec_.method;
  request.url = url.ToString();
  request.headers = std::move(headers);
  request.tls = std::move(tls);
  request.limits = core_->options.limits;
  request.receive_window = receive_window_;
  if (!spec_.renew_budget) request.limits.total = BudgetLeft();
  request.limits.header = std::min(request.limits.header, std::max(BudgetLeft(), milliseconds(1)));
  handler_->Prepare(request);
  in_flight_ = true;
  std::shared_ptr<Transfer> transfer =
      core_->transport.Start(std::move(request), std::make_shared<Exchange>(shared_from_this()));
  MutexLock lock(mutex_);
  transfer_ = transfer;
  if (paused_) transfer_->Pause();
  if (cancelled_) transfer_->Cancel();
}

Status RegistryCall::OnHead(const HttpResponseHead& head) {
  head_ = head;
  return JudgeHead(head);
}

Status RegistryCall::JudgeHead(const HttpResponseHead& head) {
  if (IsRedirect(head.status) && head.headers.Find("Location")) {
    verdict_ = Verdict::kRedirect;
    return OkStatus();
  }
  bool refusal = head.status == 401 || head.status == 403;
  if (OnStorage() && (refusal || head.status == 400)) {
    verdict_ = Verdict::kStorageDenied;
    return OkStatus();
  }
  if (refusal) {
    verdict_ = Verdict::kDenied;
    return OkStatus();
  }
  if (head.status < 200 || head.status > 299) {
    verdict_ = Verdict::kFailed;
    return OkStatus();
  }
  core_->health.NoteUp(hosts_[host_index_].base);
  if (at_registry_ && hops_ == 0 && !via_memory_) core_->authorizer->OnAccepted(*auth_, grant_);
  handler_status_ = handler_->OnHead(head, url_);
  if (!handler_status_.ok()) return handler_status_;
  verdict_ = Verdict::kAccepted;
  LearnTarget();
  return OkStatus();
}

void RegistryCall::LearnTarget() {
  if (!asking_ || via_memory_) return;
  asking_ = false;
  if (hops_ == 0 || at_registry_) return spec_.redirects->LearnDirect();
  std::optional<std::chrono::system_clock::time_point> server_now;
  if (auto date = head_.headers.Find("Date")) server_now = ParseHttpDate(*date);
  spec_.redirects->Learn({url_, referer_, StorageTls(hosts_[host_index_])},
                         SignedUrlLifetime(url_, server_now, core_->clock.WallNow()));
}

Status RegistryCall::OnBody(ByteSpan bytes) {
  if (verdict_ == Verdict::kAccepted) {
    handler_status_ = handler_->OnBody(bytes);
    if (!handler_status_.ok()) return handler_status_;
    if (spec_.resumes) progress_ += bytes.size();
    if (spec_.renew_budget) deadline_ = core_->clock.Now() + budget_;
    return OkStatus();
  }
  if (error_body_.size() < kErrorBodyLimit) {
    error_body_ += AsText(bytes.subspan(0, std::min<size_t>(bytes.size(), kErrorBodyLimit - error_body_.size())));
    return OkStatus();
  }
  return absl::UnavailableError("a long body that nobody wants");
}

void RegistryCall::OnDone(Status status) {
  in_flight_ = false;
  {
    MutexLock lock(mutex_);
    transfer_.reset();
  }
  if (finished_) return;
  if (verdict_ == Verdict::kAccepted && (status.ok() || !handler_status_.ok()) && handler_->Satisfied()) {
    return Finish(OkStatus());
  }
  if (cancelled_) return Finish(absl::CancelledError(spec_.what + ": cancelled"));
  if (progress_ > 0) {
    attempt_ = 1;
    odd_answers_ = storage_denials_ = 0;
    round_failure_ = OkStatus();
  }
  switch (verdict_) {
    case Verdict::kRedirect:
      return FollowRedirect();
    case Verdict::kDenied:
      return OnDenied();
    case Verdict::kStorageDenied:
      return OnStorageDenied();
    case Verdict::kFailed:
      return OnFailed(HttpErrorStatus(head_.status, error_body_, spec_.what));
    case Verdict::kNone:
    case Verdict::kAccepted:
      break;
  }
  if (!handler_status_.ok()) {
    if (handler_status_.code() == absl::StatusCode::kUnavailable && progress_ == 0 &&
        ++odd_answers_ >= kMostOddAnswers) {
      return Finish(Annotate(handler_status_, spec_.what));
    }
    return OnFailed(Annotate(handler_status_, spec_.what));
  }
  if (status.ok()) status = absl::UnavailableError("the body ended early");
  OnFailed(Annotate(status, spec_.what));
}

void RegistryCall::FollowRedirect() {
  if (++hops_ > kMostHops) return OnFailed(absl::FailedPreconditionError(spec_.what + ": too many redirects"));
  Result<Url> target = ResolveUrl(url_, *head_.headers.Find("Location"));
  if (!target.ok()) return OnFailed(Annotate(target.status(), spec_.what + ": redirected to"));
  Result<Url> base = Url::Parse(hosts_[host_index_].base);
  HttpHeaders headers;
  bool same_host = !via_memory_ && base.ok() && SameOrigin(*target, *base);
  // The address that redirects is shown to the next one, as browsers do; never from https to http.
  bool downgrade = url_.scheme == "https" && target->scheme == "http";
  referer_ = downgrade ? "" : url_.Origin() + url_.path;
  if (same_host) {
    headers = hosts_[host_index_].headers;
    if (!grant_.header.empty()) headers.Set("Authorization", grant_.header);
  }
  at_registry_ = same_host;
  if (!referer_.empty()) headers.Set("Referer", referer_);
  log::Debug("{}: redirected to {}", spec_.what, target->Origin());
  Send(*target, std::move(headers), same_host ? hosts_[host_index_].tls : StorageTls(hosts_[host_index_]));
}

void RegistryCall::OnDenied() {
  Status refusal = HttpErrorStatus(head_.status, error_body_, spec_.what);
  if (!core_->authorizer->OnRefused(*auth_, grant_, head_)) {
    if (!auth_->problem.empty()) refusal = Annotate(refusal, auth_->problem);
    return OnFailed(std::move(refusal));
  }
  refusal_ = std::move(refusal);
  hops_ = 0;
  AskRegistry();
}

void RegistryCall::OnStorageDenied() {
  bool remembered = via_memory_;
  if (spec_.redirects) spec_.redirects->Forget(url_);
  std::string where = url_.Origin();
  // Expired, most likely: the registry gives a new address. A 401 here is no question about our credentials.
  if (++storage_denials_ <= kMostStorageDenials && (remembered || storage_denials_ == 1)) return StartAttempt();
  Status status(
      storage_denials_ <= kMostStorageDenials ? absl::StatusCode::kUnavailable : absl::StatusCode::kPermissionDenied,
      fmt::format("{}: {} answered {} to a fresh redirect", spec_.what, where, head_.status));
  head_.status = 0;
  OnFailed(std::move(status));
}

void RegistryCall::OnFailed(Status status) {
  bool throttled = verdict_ == Verdict::kFailed && IsRetryableStatus(head_.status);
  if (via_memory_ && progress_ == 0 && !throttled) spec_.redirects->Forget(url_);
  if (status.code() == absl::StatusCode::kDeadlineExceeded && BudgetLeft().count() <= 0)
    return Finish(std::move(status));
  bool answered = verdict_ == Verdict::kFailed && head_.status != 0;
  if (answered) {
    if (auto after = head_.headers.Find("Retry-After")) {
      retry_after_ = ParseRetryAfter(*after, core_->clock.WallNow());
    }
  }
  if (answered && head_.status == 404 && spec_.redirects && !OnStorage()) {
    spec_.redirects->NoteMissingAt(hosts_[host_index_].base);
  }
  if (answered && (head_.status == 404 || head_.status == 405 || head_.status == 410)) round_absence_ = status;
  bool retryable = answered ? IsRetryableStatus(head_.status) : status.code() == absl::StatusCode::kUnavailable;
  round_trouble_ = round_trouble_ || (answered && retryable);
  if (!answered && retryable && progress_ == 0 && !OnStorage()) core_->health.NoteDown(hosts_[host_index_].base);
  TryNextHost(std::move(status), retryable);
}

void RegistryCall::TryNextHost(Status status, bool retryable) {
  // What may go away by itself says more than a mirror's "not found"; otherwise the last server's word counts.
  if (retryable || !round_retryable_) round_failure_ = std::move(status);
  round_retryable_ = round_retryable_ || retryable;
  bool final_here = spec_.absolute_url.empty();
  if (final_here && host_index_ + 1 < hosts_.size()) {
    log::Debug("{}; trying the next server", Message(round_failure_));
    ++host_index_;
    return StartAttempt();
  }
  if (!round_retryable_) return Finish(std::move(round_failure_));
  if (spec_.absence_counts && !round_absence_.ok() && !round_trouble_) return Finish(std::move(round_absence_));
  WaitAndRetry();
}

void RegistryCall::WaitAndRetry() {
  FailedAttempt failed{.attempt = attempt_, .budget_left = BudgetLeft(), .jitter_seed = seed_};
  failed.retry_after = std::exchange(retry_after_, std::nullopt);
  const bool told_to_wait = failed.retry_after.has_value();
  if (asker_retries_ && !told_to_wait && progress_ == 0) return Finish(std::move(round_failure_));
  std::optional<milliseconds> wait = NextWait(spec_.retry.value_or(core_->options.retry), failed);
  if (!wait && asker_retries_ && told_to_wait) {
    // To ask again within the budget is what the server does not want.
    return Finish(absl::FailedPreconditionError(
        fmt::format("{}; the server asks to be left alone for longer than this can wait", Message(round_failure_))));
  }
  if (!wait) return Finish(std::move(round_failure_));
  round_retryable_ = round_trouble_ = false;
  round_absence_ = OkStatus();
  // Settings may have changed, and servers that are down are asked last.
  if (Status status = ChooseHosts(); !status.ok()) return Finish(std::move(status));
  if (progress_ >= kFreeProgress && !told_to_wait) return StartAttempt();  // go on at once where the bytes ended
  // Others need not wait with it, unless the server said so.
  if (!told_to_wait && std::exchange(asking_, false)) spec_.redirects->GiveUpAsking();
  log::Debug("{}; attempt {} in {} ms", Message(round_failure_), attempt_ + 1, wait->count());
  ++attempt_;
  told_to_wait_ = told_to_wait;
  core_->transport.After(*wait, [self = shared_from_this()] {
    self->told_to_wait_ = false;
    self->StartAttempt();
  });
}

void RegistryCall::Finish(Status status) {
  if (std::exchange(finished_, true)) return;
  if (std::exchange(asking_, false)) spec_.redirects->GiveUpAsking();
  stop_callback_.reset();
  std::shared_ptr<CallHandler> handler = std::move(handler_);
  handler->OnFinish(Unshared(status));
}

}  // namespace soci
