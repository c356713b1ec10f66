// The head of an HTTP/1.1 request as it came over the wire. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace soci {

// "GET /path HTTP/1.1" begins so; anything else is another protocol. A beginning is enough.
bool MayBeHttp(std::string_view head);

// The value of a header, its name in lower case; empty if there is none.
std::string_view HttpHeader(std::string_view head, std::string_view name);

struct RequestLine {
  std::string_view method, path;
  // A blob of the distribution API: what registries like ECR answer with a redirect.
  bool IsBlobDownload() const;
  bool IsForApi() const { return path.substr(0, 4) == "/v2/"; }
};
RequestLine ParseRequestLine(std::string_view head);

// Cuts what a client sends into heads of requests, each whole and with its empty line, and everything between them.
// One per connection, one thread. After anything that is no HTTP, or a chunked body, all is passed on as it comes.
class RequestSplitter {
 public:
  struct Piece {
    bool is_head = false;
    std::string bytes;
  };
  std::vector<Piece> Feed(std::string_view bytes);

 private:
  std::string head_;
  uint64_t body_left_ = 0;
  bool deaf_ = false;
};

}  // namespace soci
