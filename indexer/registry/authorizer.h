// Decides which Authorization header a request to a registry server carries, and what to do when it is refused.
//
// Learns each server's challenge by one probe of /v2/, asks the credential provider once per host (on threads of its
// own: a helper may block), remembers which identities are good. A refused identity makes way for the next one, then
// the provider is asked again, then anonymous access is tried; a call goes through each at most once. 403 counts like
// 401: some registries answer it when a token has expired. Lives on the network thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "indexer/base/clock.h"
#include "indexer/base/thread_pool.h"
#include "indexer/net/http_collect.h"
#include "indexer/net/http_transport.h"
#include "indexer/registry/challenge.h"
#include "indexer/registry/credentials.h"
#include "indexer/registry/registry_hosts.h"
#include "indexer/registry/token_cache.h"

namespace soci {

// What a request wants, and what this request has already tried. One per call.
struct AuthRequest {
  RegistryHost host;
  std::string repository;
  std::string scope;  // "repository:name:pull"

  std::set<std::string> refused;  // identities
  bool anonymous_refused = false;
  bool token_renewed = false;
  bool asked_again = false;        // the provider, on behalf of this call
  uint64_t granted_answer_id = 0;  // which of its answers the last grant came from
  int denials = 0;
  std::string problem;  // what the provider had to say
};

struct Grant {
  enum class Kind { kNone, kBasic, kBearer };
  Kind kind = Kind::kNone;
  std::string header;    // the value of Authorization; empty: send none
  std::string identity;  // empty: anonymous
  std::string source;    // of the credential, for messages
  uint64_t token_id = 0;
  TokenKey token_key;
};

class Authorizer : public std::enable_shared_from_this<Authorizer> {
 public:
  using Done = std::function<void(Result<Grant>)>;

  // Borrows all three; they outlive everything that this object starts.
  Authorizer(HttpTransport& transport, CredentialProvider& provider, const Clock& clock);

  // `request` lives until `done` has run, which may be before Get returns.
  void Get(std::shared_ptr<AuthRequest> request, Done done);

  // The server did as asked.
  void OnAccepted(const AuthRequest& request, const Grant& grant);

  // The server answered 401 or 403 to a request with `grant`. True: Get again and retry. False: that was the last word.
  bool OnRefused(AuthRequest& request, const Grant& grant, const HttpResponseHead& head);

 private:
  struct Server {  // by base URL
    bool probed = false;
    bool probing = false;
    std::optional<Challenge> challenge;
    std::vector<std::function<void(Status)>> waiting;
  };
  struct Identity {          // by credential host, or host and repository
    uint64_t answer_id = 0;  // 0: not asked yet
    bool asking = false;
    CredentialAnswer answer;
    Clock::TimePoint answered_at;
    std::set<std::string> proven;
    std::map<std::string, Clock::TimePoint> refused;  // by everybody's experience, for a while
    std::vector<std::function<void()>> waiting;
  };

  void Probe(const RegistryHost& host, std::function<void(Status)> done);
  void OnProbed(const std::string& base, const Result<HttpResponse>& response);
  void AskProvider(const std::string& key, const CredentialQuery& query, std::function<void()> done);
  Identity& IdentityFor(const AuthRequest& request, std::string* key);
  bool ShouldAsk(const Identity& identity, AuthRequest& request) const;
  const Credential* Pick(Identity& identity, const AuthRequest& request) const;
  void Choose(std::shared_ptr<AuthRequest> request, Done done);
  void GrantWith(std::shared_ptr<AuthRequest> request, const Credential* credential, Done done);
  void OnToken(std::shared_ptr<AuthRequest> request, Grant grant, Result<Token> token, Done done);
  void NoteRefused(Identity& identity, const AuthRequest& request, const Grant& grant);

  HttpTransport& transport_;
  CredentialProvider& provider_;
  const Clock& clock_;
  const std::shared_ptr<TokenCache> tokens_;
  std::map<std::string, Server> servers_;
  std::map<std::string, Identity> identities_;
  uint64_t last_answer_id_ = 0;
  ThreadPool provider_threads_;  // last member: its tasks end first
};

}  // namespace soci
