#include "tests/e2e/support/http.h"

#include <curl/curl.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <memory>
#include <stdexcept>

namespace soci::test {
namespace {

size_t OnBody(char* bytes, size_t size, size_t count, void* answer) {
  static_cast<HttpAnswer*>(answer)->body.append(bytes, size * count);
  return size * count;
}

size_t OnHeader(char* bytes, size_t size, size_t count, void* answer) {
  std::string line(bytes, size * count);
  const size_t colon = line.find(':');
  if (colon != std::string::npos) {
    std::string name = line.substr(0, colon);
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    const size_t start = line.find_first_not_of(" \t", colon + 1);
    const size_t end = line.find_last_not_of(" \t\r\n");
    static_cast<HttpAnswer*>(answer)->headers[name] =
        start == std::string::npos || end < start ? "" : line.substr(start, end - start + 1);
  }
  return size * count;
}

// Asked once a second, and whenever something happens.
int OnProgress(void* stop, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  return static_cast<const std::stop_token*>(stop)->stop_requested() ? 1 : 0;
}

struct Upload {
  std::string_view left;
};

size_t OnRead(char* out, size_t size, size_t count, void* state) {
  auto* upload = static_cast<Upload*>(state);
  const size_t take = std::min(size * count, upload->left.size());
  std::memcpy(out, upload->left.data(), take);
  upload->left.remove_prefix(take);
  return take;
}

}  // namespace

HttpAnswer HttpRequest(const std::string& method, const std::string& url, std::string_view body,
                       const std::vector<std::string>& headers, const std::stop_token& stop) {
  static const CURLcode initialised = curl_global_init(CURL_GLOBAL_DEFAULT);
  std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl(curl_easy_init(), curl_easy_cleanup);
  if (initialised != CURLE_OK || !curl) throw std::runtime_error("curl does not start");
  curl_slist* list = nullptr;
  for (const std::string& header : headers) list = curl_slist_append(list, header.c_str());
  list = curl_slist_append(list, "Expect:");
  std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> list_owner(list, curl_slist_free_all);

  HttpAnswer answer;
  Upload upload{body};
  curl_easy_setopt(curl.get(), CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl.get(), CURLOPT_NOPROXY, "*");
  curl_easy_setopt(curl.get(), CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl.get(), CURLOPT_HTTPHEADER, list);
  curl_easy_setopt(curl.get(), CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(curl.get(), CURLOPT_XFERINFOFUNCTION, OnProgress);
  curl_easy_setopt(curl.get(), CURLOPT_XFERINFODATA, &stop);
  curl_easy_setopt(curl.get(), CURLOPT_WRITEFUNCTION, OnBody);
  curl_easy_setopt(curl.get(), CURLOPT_WRITEDATA, &answer);
  curl_easy_setopt(curl.get(), CURLOPT_HEADERFUNCTION, OnHeader);
  curl_easy_setopt(curl.get(), CURLOPT_HEADERDATA, &answer);
  if (method == "HEAD") {
    curl_easy_setopt(curl.get(), CURLOPT_NOBODY, 1L);
  } else if (method == "PUT" || method == "POST" || method == "PATCH") {
    curl_easy_setopt(curl.get(), CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(curl.get(), CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(body.size()));
    curl_easy_setopt(curl.get(), CURLOPT_READFUNCTION, OnRead);
    curl_easy_setopt(curl.get(), CURLOPT_READDATA, &upload);
  }
  curl_easy_setopt(curl.get(), CURLOPT_CUSTOMREQUEST, method == "HEAD" ? nullptr : method.c_str());
  const CURLcode code = curl_easy_perform(curl.get());
  if (code == CURLE_ABORTED_BY_CALLBACK) throw std::runtime_error("interrupted");
  if (code != CURLE_OK) throw std::runtime_error(method + " " + url + ": " + curl_easy_strerror(code));
  long status = 0;
  curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &status);
  answer.status = static_cast<int>(status);
  return answer;
}

}  // namespace soci::test
