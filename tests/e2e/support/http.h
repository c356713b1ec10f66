// The few HTTP requests that tests make themselves. Network failures throw std::runtime_error, and so does a stop
// within a second of it; any status is an answer. Any thread.
#pragma once

#include <map>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace soci::test {

struct HttpAnswer {
  int status = 0;
  std::string body;
  std::map<std::string, std::string> headers;  // names in lower case
};

HttpAnswer HttpRequest(const std::string& method, const std::string& url, std::string_view body = {},
                       const std::vector<std::string>& headers = {}, const std::stop_token& stop = {});

}  // namespace soci::test
