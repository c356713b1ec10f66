// Bearer tokens, per token server, identity and scope: fetched once for many waiters, renewed before they expire.
//
// While one request is on its way, other scopes of the same identity gather and go out together in the next: any number
// of repositories asked for at once cost two requests. A server that does not answer for several scopes is then asked
// for each. Lives on the network thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "indexer/base/clock.h"
#include "indexer/net/http_transport.h"
#include "indexer/net/retry_policy.h"
#include "indexer/registry/credentials.h"

namespace soci {

struct TokenKey {
  std::string realm;
  std::string service;
  std::string identity;  // Credential::Identity(); empty: anonymous
  auto operator<=>(const TokenKey&) const = default;
};

struct Token {
  std::string value;
  uint64_t id = 0;  // no two tokens of this process share one
  Clock::TimePoint renew_at;
};

class TokenCache : public std::enable_shared_from_this<TokenCache> {
 public:
  using Done = std::function<void(Result<Token>)>;

  struct Access {  // how to reach the token server
    std::optional<Credential> credential;
    std::shared_ptr<const TlsOptions> tls;
    bool allow_http = false;
  };

  // Borrows both.
  TokenCache(HttpTransport& transport, const Clock& clock) : transport_(transport), clock_(clock) {}

  // `done` may run before Get returns. kUnauthenticated or kPermissionDenied: the token server refused the identity.
  void Get(const TokenKey& key, const std::string& scope, const Access& access, Done done);
  // This token was refused; the next Get fetches another.
  void Drop(const TokenKey& key, const std::string& scope, uint64_t id);

 private:
  struct Lane {                                        // one identity at one token server
    std::map<std::string, Token> tokens;               // by scope
    std::map<std::string, std::vector<Done>> waiting;  // by scope
    std::set<std::string> in_flight;
    Access access;
    bool gathers = true;  // several scopes in one request
  };

  void StartFlight(const TokenKey& key);
  void Send(const TokenKey& key, int attempt);
  void Land(const TokenKey& key, Result<Token> token);

  HttpTransport& transport_;
  const Clock& clock_;
  std::map<TokenKey, Lane> lanes_;
  uint64_t last_id_ = 0;
};

}  // namespace soci
