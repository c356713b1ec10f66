#include "indexer/registry/registry_error.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "indexer/net/text.h"

namespace soci {
namespace {

constexpr std::string_view kHttpStatusPayload = "soci/http-status";
constexpr size_t kLongestText = 240;
constexpr size_t kLongestWord = 80;  // a digest has 71

absl::StatusCode CodeFor(int http_status) {
  switch (http_status) {
    case 400:
      return absl::StatusCode::kInvalidArgument;
    case 401:
      return absl::StatusCode::kUnauthenticated;
    case 403:
      return absl::StatusCode::kPermissionDenied;
    case 404:
    case 410:
      return absl::StatusCode::kNotFound;
    case 405:
      return absl::StatusCode::kUnimplemented;
    case 409:
    case 412:
      return absl::StatusCode::kAborted;
    case 416:
      return absl::StatusCode::kOutOfRange;
    case 408:
    case 425:
    case 429:
      return absl::StatusCode::kUnavailable;
    default:
      return http_status >= 500 ? absl::StatusCode::kUnavailable : absl::StatusCode::kFailedPrecondition;
  }
}

bool LooksSecret(std::string_view word) {
  if (word.size() > kLongestWord) return true;
  std::string lower = ToLower(word);
  for (std::string_view mark : {"?", "token=", "signature", "password", "secret", "x-amz-", "sig="}) {
    if (lower.find(mark) != std::string::npos) return true;
  }
  return false;
}

// Printable words of the text, the secret-looking ones and those after "Bearer" or "Basic" left out.
std::string Clean(std::string_view text) {
  std::string clean, word;
  bool hide_next = false;
  auto flush = [&] {
    if (word.empty()) return;
    bool hide = hide_next || LooksSecret(word);
    hide_next = EqualsIgnoringCase(word, "bearer") || EqualsIgnoringCase(word, "basic") ||
                EqualsIgnoringCase(word, "authorization:");
    if (clean.size() < kLongestText) clean += (clean.empty() ? "" : " ") + (hide ? std::string("[...]") : word);
    word.clear();
  };
  for (char c : text.substr(0, 4096)) {
    if (c > ' ' && c < 0x7f) {
      word += c;
    } else {
      flush();
    }
  }
  flush();
  return clean.substr(0, kLongestText);
}

std::string Member(const nlohmann::json& object, const char* key) {
  auto found = object.find(key);
  return found != object.end() && found->is_string() ? Clean(found->get<std::string>()) : "";
}

}  // namespace

std::string DescribeErrorBody(std::string_view body) {
  if (body.empty() || body.front() != '{') return "";
  auto document = nlohmann::json::parse(body.begin(), body.end(), nullptr, false);
  if (!document.is_object()) return "";
  auto errors = document.find("errors");
  // The token servers' form: {"error": "...", "error_description"/"details": "..."}.
  if (errors == document.end()) {
    std::string error = Member(document, "error");
    std::string more = Member(document, "error_description");
    if (more.empty()) more = Member(document, "message");
    return error.empty() || more.empty() ? error + more : error + ": " + more;
  }
  if (!errors->is_array() || errors->empty() || !errors->front().is_object()) return "";
  std::string code = Member(errors->front(), "code");
  std::string message = Member(errors->front(), "message");
  return code.empty() || message.empty() ? code + message : code + ": " + message;
}

Status HttpErrorStatus(int http_status, std::string_view body, std::string_view what) {
  std::string detail = DescribeErrorBody(body);
  std::string text =
      fmt::format("{}: the server answered {}{}{}", what, http_status, detail.empty() ? "" : " ", detail);
  return WithHttpStatus(Status(CodeFor(http_status), text), http_status);
}

Status WithHttpStatus(Status status, int http_status) {
  return WithNumber(std::move(status), kHttpStatusPayload, http_status);
}

std::optional<int> HttpStatusOf(const Status& status) { return NumberOf(status, kHttpStatusPayload); }

}  // namespace soci
