#include "indexer/registry/token_request.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "indexer/base/byte_source.h"
#include "indexer/net/text.h"
#include "indexer/net/url.h"
#include "indexer/oci/base64.h"

namespace soci {
namespace {

constexpr std::string_view kClientId = "soci-snapshotter";

void AddField(std::string& form, std::string_view name, std::string_view value) {
  if (!form.empty()) form += '&';
  form += std::string(name) + "=" + PercentEncode(value);
}

std::string Join(const std::vector<std::string>& scopes) {
  std::string all;
  for (const std::string& scope : scopes) all += (all.empty() ? "" : " ") + scope;
  return all;
}

HttpRequest RefreshRequest(const TokenQuestion& question, const Url& realm) {
  std::string form;
  AddField(form, "grant_type", "refresh_token");
  AddField(form, "refresh_token", question.credential->identity_token);
  AddField(form, "client_id", kClientId);
  if (!question.service.empty()) AddField(form, "service", question.service);
  if (!question.scopes.empty()) AddField(form, "scope", Join(question.scopes));
  HttpRequest request;
  request.method = "POST";
  request.url = realm.ToString();
  request.headers.Add("Content-Type", "application/x-www-form-urlencoded");
  request.body_length = form.size();
  request.body = MakeMemorySource(std::move(form));
  return request;
}

HttpRequest BasicRequest(const TokenQuestion& question, Url realm) {
  if (!question.service.empty()) AddField(realm.query, "service", question.service);
  for (const std::string& scope : question.scopes) AddField(realm.query, "scope", scope);
  if (question.credential != nullptr) AddField(realm.query, "account", question.credential->username);
  HttpRequest request;
  request.url = realm.ToString();
  if (question.credential != nullptr) request.headers.Add("Authorization", BasicAuthorization(*question.credential));
  return request;
}

}  // namespace

Result<HttpRequest> MakeTokenRequest(const TokenQuestion& question, bool allow_http) {
  Result<Url> realm = Url::Parse(question.realm);
  if (!realm.ok()) return Annotate(realm.status(), "the realm of a challenge");
  if (realm->scheme != "https" && !allow_http) {
    return absl::InvalidArgumentError("the realm of a challenge is not https (" + realm->host + ")");
  }
  bool refresh = question.credential != nullptr && !question.credential->identity_token.empty();
  return refresh ? RefreshRequest(question, *realm) : BasicRequest(question, *std::move(realm));
}

Result<TokenAnswer> ParseTokenAnswer(std::string_view json) {
  auto document = nlohmann::json::parse(json.begin(), json.end(), nullptr, false);
  if (!document.is_object()) return absl::FailedPreconditionError("the token server's answer is not a JSON object");
  TokenAnswer answer;
  for (const char* key : {"access_token", "token"}) {
    auto found = document.find(key);
    if (found != document.end() && found->is_string()) answer.token = found->get<std::string>();
  }
  if (answer.token.empty()) return absl::FailedPreconditionError("the token server's answer holds no token");
  // A line break in it would end up inside our own request's head.
  bool plain =
      std::all_of(answer.token.begin(), answer.token.end(), [](unsigned char c) { return c > ' ' && c < 0x7f; });
  if (!plain) return absl::FailedPreconditionError("the token server's answer holds a malformed token");
  auto lifetime = document.find("expires_in");
  if (lifetime != document.end() && lifetime->is_number()) {
    double seconds = lifetime->get<double>();
    if (seconds >= 1) answer.lifetime = std::chrono::seconds(static_cast<int64_t>(std::min(seconds, 1e6)));
  }
  return answer;
}

std::string BasicAuthorization(const Credential& credential) {
  return "Basic " + oci::EncodeBase64(credential.username + ":" + credential.secret);
}

}  // namespace soci
