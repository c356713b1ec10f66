#include "bench/link/request_counter.h"

#include <gtest/gtest.h>

namespace soci {
namespace {

TEST(RequestCounter, CountsRequestsWhereverThePiecesAreCut) {
  const std::string stream =
      "GET /v2/ HTTP/1.1\r\nHost: a\r\n\r\n"
      "PUT /v2/x HTTP/1.1\r\nContent-Length: 9\r\n\r\nGET / a\r\n"
      "HEAD /v2/y HTTP/1.1\r\n\r\n";
  for (size_t piece = 1; piece <= stream.size(); ++piece) {
    RequestCounter counter;
    uint64_t requests = 0;
    for (size_t begin = 0; begin < stream.size(); begin += piece) {
      requests += counter.Feed(std::string_view(stream).substr(begin, piece));
    }
    EXPECT_EQ(requests, 3u) << "pieces of " << piece;
  }
}

TEST(RequestCounter, IsDeafToOtherProtocols) {
  RequestCounter counter;
  EXPECT_EQ(counter.Feed("\x16\x03\x01 hello"), 0u);
  EXPECT_EQ(counter.Feed("GET / HTTP/1.1\r\n\r\n"), 0u);
}

TEST(RequestCounter, CountsNothingAfterAChunkedBodyBegins) {
  RequestCounter counter;
  EXPECT_EQ(counter.Feed("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"), 1u);
  EXPECT_EQ(counter.Feed("GET / HTTP/1.1\r\n\r\n"), 0u);
}

TEST(RequestCounter, AHeadWithoutEndIsGivenUp) {
  RequestCounter counter;
  EXPECT_EQ(counter.Feed("GET /" + std::string(100'000, 'x')), 1u);
  EXPECT_EQ(counter.Feed("\r\n\r\nGET / HTTP/1.1\r\n\r\n"), 0u);
}

}  // namespace
}  // namespace soci
