#include "indexer/registry/token_cache.h"

#include <fmt/format.h>

#include <utility>

#include "indexer/base/units.h"
#include "indexer/net/http_collect.h"
#include "indexer/net/url.h"
#include "indexer/registry/registry_error.h"
#include "indexer/registry/token_request.h"

namespace soci {
namespace {

using std::chrono::milliseconds;

constexpr size_t kMostScopes = 32;
constexpr size_t kAnswerLimit = 1_MiB;
// A token server that does not recover within this is down for the request at hand, which retries on its own terms.
// Someone may wait for what the token is for, so its own waits stay short: a second and a half in all.
constexpr RetryPolicy kPolicy{.longest_wait = std::chrono::milliseconds(800), .attempts = 4};
constexpr milliseconds kBudget{20'000};

std::string Where(const std::string& realm) {
  Result<Url> url = Url::Parse(realm);
  return "token server " + (url.ok() ? url->Origin() : std::string("(malformed)"));
}

// Renewed when a fifth of the life is left, so that no request sets out with a token that expires on the way.
Clock::TimePoint RenewAt(Clock::TimePoint now, std::chrono::seconds lifetime) {
  return now + std::chrono::duration_cast<milliseconds>(lifetime) * 4 / 5;
}

}  // namespace

void TokenCache::Get(const TokenKey& key, const std::string& scope, const Access& access, Done done) {
  Lane& lane = lanes_[key];
  lane.access = access;
  auto found = lane.tokens.find(scope);
  if (found != lane.tokens.end()) {
    if (clock_.Now() < found->second.renew_at) return done(found->second);
    lane.tokens.erase(found);
  }
  lane.waiting[scope].push_back(std::move(done));
  if (lane.in_flight.empty()) StartFlight(key);
}

void TokenCache::Drop(const TokenKey& key, const std::string& scope, uint64_t id) {
  auto lane = lanes_.find(key);
  if (lane == lanes_.end()) return;
  auto token = lane->second.tokens.find(scope);
  if (token == lane->second.tokens.end() || token->second.id != id) return;
  // The same token under several scopes: perhaps the server answered for the first of them only.
  for (const auto& [other, value] : lane->second.tokens) {
    if (other != scope && value.id == id) lane->second.gathers = false;
  }
  lane->second.tokens.erase(token);
}

void TokenCache::StartFlight(const TokenKey& key) {
  Lane& lane = lanes_[key];
  for (const auto& [scope, waiters] : lane.waiting) {
    lane.in_flight.insert(scope);
    if (!lane.gathers || lane.in_flight.size() >= kMostScopes) break;
  }
  if (!lane.in_flight.empty()) Send(key, 1);
}

void TokenCache::Send(const TokenKey& key, int attempt) {
  Lane& lane = lanes_[key];
  TokenQuestion question{key.realm, key.service, {}, lane.access.credential ? &*lane.access.credential : nullptr};
  for (const std::string& scope : lane.in_flight) {
    if (!scope.empty()) question.scopes.push_back(scope);
  }
  Result<HttpRequest> request = MakeTokenRequest(question, lane.access.allow_http);
  if (!request.ok()) return Land(key, request.status());
  request->tls = lane.access.tls;

  auto answered = [self = shared_from_this(), key, attempt](Result<HttpResponse> response) {
    std::string where = Where(key.realm);
    FailedAttempt failed{.attempt = attempt, .budget_left = kBudget, .jitter_seed = ++self->last_id_};
    Status status;
    if (!response.ok()) {
      status = Annotate(response.status(), where);
      failed.code = status.code();
    } else if (response->head.status != 200) {
      status = HttpErrorStatus(response->head.status, response->body, where);
      failed.http_status = response->head.status;
      if (auto after = response->head.headers.Find("Retry-After")) {
        failed.retry_after = ParseRetryAfter(*after, self->clock_.WallNow());
      }
    } else {
      Result<TokenAnswer> answer = ParseTokenAnswer(response->body);
      if (!answer.ok()) return self->Land(key, Annotate(answer.status(), where));
      Clock::TimePoint renew_at = RenewAt(self->clock_.Now(), answer->lifetime);
      return self->Land(key, Token{std::move(answer->token), ++self->last_id_, renew_at});
    }
    std::optional<milliseconds> wait = NextWait(kPolicy, failed);
    if (!wait) return self->Land(key, std::move(status));
    self->transport_.After(*wait, [self, key, attempt] { self->Send(key, attempt + 1); });
  };
  StartCollecting(transport_, *std::move(request), kAnswerLimit, std::move(answered));
}

void TokenCache::Land(const TokenKey& key, Result<Token> token) {
  Lane& lane = lanes_[key];
  std::set<std::string> scopes = std::exchange(lane.in_flight, {});
  bool several = scopes.size() > 1;
  std::vector<Done> done;
  if (!token.ok() && several) {
    lane.gathers = false;  // each scope gets its own answer now
  } else {
    for (const std::string& scope : scopes) {
      if (token.ok()) lane.tokens[scope] = *token;
      auto waiters = lane.waiting.extract(scope);
      for (Done& one : waiters.mapped()) done.push_back(std::move(one));
    }
  }
  if (!lane.waiting.empty()) StartFlight(key);
  for (Done& one : done) one(token);
}

}  // namespace soci
