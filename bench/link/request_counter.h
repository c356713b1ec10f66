// Counts the HTTP/1.1 requests in what a client sends, and nothing else: pieces of any size go in, a number comes out.
//
// Pure; one per connection, one thread. Bodies with a Content-Length are skipped. What is not HTTP, or has a chunked
// body, makes the counter deaf for the rest of the connection: it never counts a request that was none.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace soci {

class RequestCounter {
 public:
  // How many requests began in this piece.
  uint64_t Feed(std::string_view bytes);

 private:
  void EndHead();

  std::string head_;        // of the request under way, up to its empty line
  uint64_t body_left_ = 0;  // to be skipped
  bool deaf_ = false;
};

}  // namespace soci
