// Who we are for a registry: the seam behind which docker's configuration, helpers and, later, kubelet and CRI stand.
//
// A provider may block (a helper process) and is called on a thread that may; any thread, also several at once. Secrets
// never go into an error or a log line, and no credential has a ToString.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "indexer/base/result.h"

namespace soci {

struct Credential {
  std::string username;
  std::string secret;          // password, or what a helper gave
  std::string identity_token;  // an OAuth2 refresh token, used instead of the password
  std::string registry_token;  // a bearer token to be used as it is
  // Seen from the machine's wall clock; a provider that knows asks to be asked again then.
  std::optional<std::chrono::system_clock::time_point> expires;
  std::string source;  // for messages: "docker config", "credential helper ecr-login"

  // Names the identity without revealing it: a digest over all of the above but source and expiry.
  std::string Identity() const;
};

struct CredentialQuery {
  std::string host;  // as in the reference, with port; "docker.io" for Docker Hub
  std::string repository;
};

struct CredentialAnswer {
  // Most likely first. Anonymous access is always tried after the last one.
  std::vector<Credential> candidates;
  // The answer is the same for every repository of the host.
  bool whole_host = true;
  // Sources that failed, in one line, for the error of a request that is then refused.
  std::string problem;
};

class CredentialProvider {
 public:
  virtual ~CredentialProvider() = default;
  virtual CredentialAnswer Find(const CredentialQuery& query) = 0;
};

std::unique_ptr<CredentialProvider> MakeAnonymousCredentials();
std::unique_ptr<CredentialProvider> MakeStaticCredentials(Credential credential);
// Asks all and keeps their order: a bad answer of one source does not hide the next one's.
std::unique_ptr<CredentialProvider> MakeChainedCredentials(std::vector<std::unique_ptr<CredentialProvider>> providers);

}  // namespace soci
