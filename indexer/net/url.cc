#include "indexer/net/url.h"

#include <curl/curl.h>

#include <memory>

#include "indexer/net/text.h"

namespace soci {
namespace {

struct UrlCleanup {
  void operator()(CURLU* handle) const { curl_url_cleanup(handle); }
};
using UrlHandle = std::unique_ptr<CURLU, UrlCleanup>;

std::string Part(CURLU* handle, CURLUPart part, unsigned flags = 0) {
  char* text = nullptr;
  if (curl_url_get(handle, part, &text, flags) != CURLUE_OK || text == nullptr) return "";
  std::string copy(text);
  curl_free(text);
  return copy;
}

// Letters, digits and what else stands in names and addresses: a host goes into messages, paths and comparisons.
bool IsPlainHost(std::string_view host) {
  constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyz0123456789.-_:[]";
  return !host.empty() && host.find_first_not_of(kAllowed) == std::string_view::npos;
}

Result<Url> Split(CURLU* handle) {
  Url url;
  url.scheme = ToLower(Part(handle, CURLUPART_SCHEME));
  url.host = ToLower(Part(handle, CURLUPART_HOST));
  url.port = Part(handle, CURLUPART_PORT, CURLU_DEFAULT_PORT);
  url.path = Part(handle, CURLUPART_PATH);
  url.query = Part(handle, CURLUPART_QUERY);
  if (url.scheme != "http" && url.scheme != "https")
    return absl::InvalidArgumentError("a URL that is neither http nor https");
  if (!IsPlainHost(url.host)) return absl::InvalidArgumentError("a URL without a usable host");
  if (!Part(handle, CURLUPART_USER).empty() || !Part(handle, CURLUPART_PASSWORD).empty()) {
    return absl::InvalidArgumentError("a URL with a user name in it (" + url.host + ")");
  }
  if (url.path.empty()) url.path = "/";
  return url;
}

std::string Decode(std::string_view text) {
  int length = 0;
  std::string plus(text);
  for (char& c : plus) c = c == '+' ? ' ' : c;
  char* decoded = curl_easy_unescape(nullptr, plus.data(), static_cast<int>(plus.size()), &length);
  if (decoded == nullptr) return plus;
  std::string copy(decoded, static_cast<size_t>(length));
  curl_free(decoded);
  return copy;
}

// A control character or a space would be bent on its way into a request line; anything beyond ASCII has no one
// meaning.
bool IsPlain(std::string_view text) {
  for (unsigned char c : text) {
    if (c <= ' ' || c >= 0x7f) return false;
  }
  return text.size() <= 32768;
}

Result<Url> ParseAgainst(const std::string* base, std::string_view text) {
  if (!IsPlain(text))
    return absl::InvalidArgumentError("a URL with spaces, control or foreign characters, or a very long one");
  UrlHandle handle(curl_url());
  if (!handle) return absl::ResourceExhaustedError("no memory for a URL");
  if (base != nullptr && curl_url_set(handle.get(), CURLUPART_URL, base->c_str(), 0) != CURLUE_OK) {
    return absl::InvalidArgumentError("a malformed base URL");
  }
  if (curl_url_set(handle.get(), CURLUPART_URL, std::string(text).c_str(), CURLU_NON_SUPPORT_SCHEME) != CURLUE_OK) {
    return absl::InvalidArgumentError("a malformed URL");
  }
  return Split(handle.get());
}

}  // namespace

Result<Url> Url::Parse(std::string_view text) { return ParseAgainst(nullptr, text); }

std::string Url::Origin() const {
  bool default_port = (scheme == "http" && port == "80") || (scheme == "https" && port == "443");
  return scheme + "://" + host + (default_port ? "" : ":" + port);
}

std::string Url::ToString() const { return Origin() + path + (query.empty() ? "" : "?" + query); }

std::vector<std::string> Url::QueryValues(std::string_view name) const {
  std::vector<std::string> values;
  std::string_view rest = query;
  while (!rest.empty()) {
    size_t end = rest.find('&');
    std::string_view pair = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    size_t equals = pair.find('=');
    if (equals != std::string_view::npos && Decode(pair.substr(0, equals)) == name) {
      values.push_back(Decode(pair.substr(equals + 1)));
    }
  }
  return values;
}

Result<Url> ResolveUrl(const Url& base, std::string_view location) {
  std::string text = base.ToString();
  return ParseAgainst(&text, Trim(location));
}

bool SameOrigin(const Url& a, const Url& b) { return a.scheme == b.scheme && a.host == b.host && a.port == b.port; }

}  // namespace soci
