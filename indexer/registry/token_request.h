// The token protocol of registries, as pure functions: what to send to a token server, and what its answer means.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "indexer/base/result.h"
#include "indexer/net/http_types.h"
#include "indexer/registry/credentials.h"

namespace soci {

struct TokenQuestion {
  std::string realm;    // the token server's URL, from the challenge
  std::string service;  // as in the challenge; may be empty
  std::vector<std::string> scopes;
  const Credential* credential = nullptr;  // null: anonymous
};

// A GET with Basic authorization; with an identity token a POST that spends the refresh token. kInvalidArgument: the
// realm is no URL, or not https although `allow_http` is false (a password would go over the wire in the clear).
Result<HttpRequest> MakeTokenRequest(const TokenQuestion& question, bool allow_http);

struct TokenAnswer {
  std::string token;
  std::chrono::seconds lifetime{60};  // the protocol's default
};

Result<TokenAnswer> ParseTokenAnswer(std::string_view json);

// "Basic dXNlcjpwYXNz".
std::string BasicAuthorization(const Credential& credential);

}  // namespace soci
