#include "indexer/registry/authorizer.h"

#include <fmt/format.h>

#include <utility>

#include "indexer/base/log.h"
#include "indexer/base/units.h"
#include "indexer/registry/token_request.h"

namespace soci {
namespace {

// More denials of one call than identities and renewals can explain.
constexpr int kMostDenials = 12;
// As long as negative answers are remembered.
constexpr std::chrono::seconds kRefusedFor{60};
// A provider's answer that is younger is not asked for again by a call that has not tried it.
constexpr std::chrono::seconds kAskAgainAfter{10};
constexpr size_t kProviderThreads = 2;

std::optional<Challenge> PickChallenge(const HttpHeaders& headers) {
  std::optional<Challenge> basic;
  for (std::string_view value : headers.FindAll("WWW-Authenticate")) {
    for (Challenge& challenge : ParseChallenges(value)) {
      if (challenge.scheme == "bearer" && challenge.params.contains("realm")) return std::move(challenge);
      if (challenge.scheme == "basic" && !basic) basic = std::move(challenge);
    }
  }
  return basic;
}

std::string Param(const Challenge& challenge, const char* name) {
  auto found = challenge.params.find(name);
  return found == challenge.params.end() ? "" : found->second;
}

bool IsPlainHttp(const RegistryHost& host) { return host.base.starts_with("http://"); }

}  // namespace

Authorizer::Authorizer(HttpTransport& transport, CredentialProvider& provider, const Clock& clock)
    : transport_(transport),
      provider_(provider),
      clock_(clock),
      tokens_(std::make_shared<TokenCache>(transport, clock)),
      provider_threads_("credentials", kProviderThreads) {}

void Authorizer::Get(std::shared_ptr<AuthRequest> request, Done done) {
  Server& server = servers_[request->host.base];
  if (!server.probed) {
    Probe(request->host, [self = shared_from_this(), request, done = std::move(done)](Status status) mutable {
      if (!status.ok()) return done(std::move(status));
      self->Choose(std::move(request), std::move(done));
    });
    return;
  }
  Choose(std::move(request), std::move(done));
}

void Authorizer::Probe(const RegistryHost& host, std::function<void(Status)> done) {
  Server& server = servers_[host.base];
  server.waiting.push_back(std::move(done));
  if (server.probing) return;
  server.probing = true;
  HttpRequest request;
  request.url = host.base + "/";
  request.headers = host.headers;
  request.tls = host.tls;
  StartCollecting(
      transport_, std::move(request), 1_MiB,
      [self = shared_from_this(), base = host.base](Result<HttpResponse> response) { self->OnProbed(base, response); });
}

void Authorizer::OnProbed(const std::string& base, const Result<HttpResponse>& response) {
  Server& server = servers_[base];
  server.probing = false;
  bool answered = response.ok();
  // A long page instead of an answer is an answer without a challenge.
  bool too_long = response.status().code() == absl::StatusCode::kResourceExhausted;
  if (answered) {
    server.challenge = PickChallenge(response->head.headers);
    // A server in trouble may have left its challenge out; it is asked again next time.
    server.probed = response->head.status < 500 && response->head.status != 429;
  }
  Status status = answered || too_long ? OkStatus() : response.status();
  for (auto& done : std::exchange(server.waiting, {})) done(status);
}

Authorizer::Identity& Authorizer::IdentityFor(const AuthRequest& request, std::string* key) {
  *key = request.host.credential_host;
  Identity& whole_host = identities_[*key];
  if (whole_host.answer_id == 0 || whole_host.answer.whole_host) return whole_host;
  *key += "/" + request.repository;
  return identities_[*key];
}

bool Authorizer::ShouldAsk(const Identity& identity, AuthRequest& request) const {
  if (identity.answer_id == 0) return true;
  if (request.asked_again) return false;
  for (const Credential& candidate : identity.answer.candidates) {
    if (candidate.expires && *candidate.expires <= clock_.WallNow()) return request.asked_again = true;
  }
  return false;
}

const Credential* Authorizer::Pick(Identity& identity, const AuthRequest& request) const {
  std::erase_if(identity.refused, [&](const auto& entry) { return entry.second <= clock_.Now(); });
  for (const Credential& candidate : identity.answer.candidates) {
    std::string name = candidate.Identity();
    if (!request.refused.contains(name) && !identity.refused.contains(name)) return &candidate;
  }
  return nullptr;
}

void Authorizer::AskProvider(const std::string& key, const CredentialQuery& query, std::function<void()> done) {
  Identity& identity = identities_[key];
  identity.waiting.push_back(std::move(done));
  if (identity.asking) return;
  identity.asking = true;
  // The pool's thread holds no reference to this object: it must not be the one that destroys the pool.
  provider_threads_.Post([weak = weak_from_this(), &transport = transport_, &provider = provider_, key, query] {
    CredentialAnswer answer = provider.Find(query);
    transport.After({}, [weak, key, answer = std::move(answer)]() mutable {
      auto self = weak.lock();
      if (self == nullptr) return;
      Identity& asked = self->identities_[key];
      asked.asking = false;
      asked.answer = std::move(answer);
      asked.answer_id = ++self->last_answer_id_;
      asked.answered_at = self->clock_.Now();
      for (auto& waiter : std::exchange(asked.waiting, {})) waiter();
    });
  });
}

void Authorizer::Choose(std::shared_ptr<AuthRequest> request, Done done) {
  const Server& server = servers_[request->host.base];
  if (!server.challenge) return done(Grant{});
  std::string key;
  Identity& identity = IdentityFor(*request, &key);
  auto ask = [&] {
    AskProvider(key, {request->host.credential_host, request->repository},
                [self = shared_from_this(), request, done] { self->Choose(request, done); });
  };
  if (ShouldAsk(identity, *request)) return ask();
  request->problem = identity.answer.problem;
  if (const Credential* candidate = Pick(identity, *request)) {
    return GrantWith(std::move(request), candidate, std::move(done));
  }
  // All refused: a source may by now have something better (a helper that has renewed what it gave, a new login).
  bool refused = request->anonymous_refused || !identity.answer.candidates.empty();
  bool seen = request->granted_answer_id == identity.answer_id || clock_.Now() - identity.answered_at > kAskAgainAfter;
  if (refused && seen && !request->asked_again) {
    request->asked_again = true;
    return ask();
  }
  if (request->anonymous_refused) {
    std::string why = request->problem.empty() ? "" : " (" + request->problem + ")";
    return done(absl::UnauthenticatedError(
        fmt::format("{}: no credentials that the registry accepts{}", request->host.credential_host, why)));
  }
  GrantWith(std::move(request), nullptr, std::move(done));
}

void Authorizer::GrantWith(std::shared_ptr<AuthRequest> request, const Credential* credential, Done done) {
  const Challenge& challenge = *servers_[request->host.base].challenge;
  std::string key;
  request->granted_answer_id = IdentityFor(*request, &key).answer_id;
  Grant grant;
  if (credential != nullptr) {
    grant.identity = credential->Identity();
    grant.source = credential->source;
  }
  if (challenge.scheme == "basic") {
    if (credential != nullptr) {
      grant.kind = Grant::Kind::kBasic;
      grant.header = BasicAuthorization(*credential);
    }
    return done(std::move(grant));
  }
  grant.kind = Grant::Kind::kBearer;
  if (credential != nullptr && !credential->registry_token.empty()) {
    grant.header = "Bearer " + credential->registry_token;
    return done(std::move(grant));
  }
  grant.token_key = {Param(challenge, "realm"), Param(challenge, "service"), grant.identity};
  TokenCache::Access access{credential ? std::optional(*credential) : std::nullopt, request->host.tls,
                            IsPlainHttp(request->host)};
  tokens_->Get(grant.token_key, request->scope, access,
               [self = shared_from_this(), request, grant, done = std::move(done)](Result<Token> token) {
                 self->OnToken(request, grant, std::move(token), done);
               });
}

void Authorizer::OnToken(std::shared_ptr<AuthRequest> request, Grant grant, Result<Token> token, Done done) {
  if (token.ok()) {
    grant.header = "Bearer " + token->value;
    grant.token_id = token->id;
    return done(std::move(grant));
  }
  absl::StatusCode code = token.status().code();
  bool refused = code == absl::StatusCode::kUnauthenticated || code == absl::StatusCode::kPermissionDenied ||
                 code == absl::StatusCode::kInvalidArgument;
  if (!refused || request->anonymous_refused) return done(token.status());
  if (grant.identity.empty()) {
    request->anonymous_refused = true;
    return done(request->problem.empty() ? token.status() : Annotate(token.status(), request->problem));
  }
  std::string key;
  NoteRefused(IdentityFor(*request, &key), *request, grant);
  request->refused.insert(grant.identity);
  Choose(std::move(request), std::move(done));
}

void Authorizer::NoteRefused(Identity& identity, const AuthRequest& request, const Grant& grant) {
  bool fresh = identity.refused.emplace(grant.identity, clock_.Now() + kRefusedFor).second;
  if (!fresh) return;
  log::Warning("{}: the credentials from {} were refused; trying what else there is", request.host.credential_host,
               grant.source.empty() ? "one source" : grant.source);
}

void Authorizer::OnAccepted(const AuthRequest& request, const Grant& grant) {
  if (grant.identity.empty()) return;
  std::string key;
  IdentityFor(request, &key).proven.insert(grant.identity);
}

bool Authorizer::OnRefused(AuthRequest& request, const Grant& grant, const HttpResponseHead& head) {
  if (++request.denials > kMostDenials) return false;
  Server& server = servers_[request.host.base];
  bool knew = server.challenge.has_value();
  if (std::optional<Challenge> challenge = PickChallenge(head.headers)) {
    std::string scope = Param(*challenge, "scope");
    if (!scope.empty()) request.scope = scope;
    server.challenge = std::move(challenge);
  }
  if (!server.challenge) return false;
  if (!knew) return true;  // sent without anything; now there is something to answer

  if (grant.kind == Grant::Kind::kBearer && grant.token_id != 0) {
    tokens_->Drop(grant.token_key, request.scope, grant.token_id);
    if (!request.token_renewed) return request.token_renewed = true;
  }
  request.token_renewed = false;
  if (grant.identity.empty()) return !std::exchange(request.anonymous_refused, true);
  request.refused.insert(grant.identity);
  // Only a Basic identity that never worked is bad for everybody: a 403, or a 401 to a good token, is about this
  // repository.
  std::string key;
  Identity& identity = IdentityFor(request, &key);
  bool never_worked = !identity.proven.contains(grant.identity);
  if (head.status == 401 && grant.kind == Grant::Kind::kBasic && never_worked) NoteRefused(identity, request, grant);
  return true;
}

}  // namespace soci
