#include "bench/link/link.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <vector>

namespace soci {
namespace {

// Answers each connection with everything it has received, once the peer has ended its side.
class EchoServer {
 public:
  EchoServer() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), length), 0);
    EXPECT_EQ(::listen(listener_.get(), 128), 0);
    ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &length);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { Run(); });
  }
  ~EchoServer() {
    ::shutdown(listener_.get(), SHUT_RDWR);
    thread_.join();
  }
  uint16_t port() const { return port_; }

 private:
  void Run() {
    std::vector<std::thread> threads;
    for (;;) {
      UniqueFd client(::accept(listener_.get(), nullptr, nullptr));
      if (!client) break;
      threads.emplace_back([fd = std::move(client)] {
        std::string all;
        char piece[4096];
        for (ssize_t n; (n = ::recv(fd.get(), piece, sizeof piece, 0)) > 0;) all.append(piece, static_cast<size_t>(n));
        for (size_t sent = 0; sent < all.size();) {
          const ssize_t n = ::send(fd.get(), all.data() + sent, all.size() - sent, MSG_NOSIGNAL);
          if (n <= 0) break;
          sent += static_cast<size_t>(n);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

  UniqueFd listener_;
  uint16_t port_ = 0;
  std::thread thread_;
};

UniqueFd ConnectTo(uint16_t port) {
  UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) fd.Reset();
  return fd;
}

// What comes back until the end; nothing if the connection was reset before a byte came.
std::string Exchange(uint16_t port, const std::string& request) {
  UniqueFd fd = ConnectTo(port);
  if (!fd) return "";
  ::send(fd.get(), request.data(), request.size(), MSG_NOSIGNAL);
  ::shutdown(fd.get(), SHUT_WR);
  std::string answer;
  char piece[4096];
  for (ssize_t n; (n = ::recv(fd.get(), piece, sizeof piece, 0)) > 0;) answer.append(piece, static_cast<size_t>(n));
  return answer;
}

std::unique_ptr<Link> StartLink(uint16_t upstream, LinkOptions options = {}) {
  options.upstream_port = upstream;
  auto link = Link::Start(options);
  EXPECT_TRUE(link.ok());
  return *std::move(link);
}

TEST(Link, PassesBytesBothWaysAndCountsThem) {
  EchoServer server;
  auto link = StartLink(server.port());
  const std::string text(300'000, 'x');
  EXPECT_EQ(Exchange(link->port(), text), text);
  EXPECT_EQ(link->counters().connections, 1u);
  EXPECT_EQ(link->counters().bytes_up, text.size());
  EXPECT_EQ(link->counters().bytes_down, text.size());
}

TEST(Link, CountsRequestsWhereTheProtocolIsHttp) {
  EchoServer server;
  auto link = StartLink(server.port());
  Exchange(link->port(), "GET /a HTTP/1.1\r\n\r\nGET /b HTTP/1.1\r\n\r\n");
  EXPECT_EQ(link->counters().requests, 2u);
  Exchange(link->port(), "something else");
  EXPECT_EQ(link->counters().requests, 2u);
  EXPECT_EQ(link->counters().connections, 2u);
}

TEST(Link, LimitedAndDelayedBytesAreTheSameBytes) {
  EchoServer server;
  auto link = StartLink(server.port(), {.delay = std::chrono::milliseconds(1),
                                        .connection_bytes_per_second = 50'000'000,
                                        .total_bytes_per_second = 80'000'000});
  const std::string text(200'000, 'y');
  EXPECT_EQ(Exchange(link->port(), text), text);
}

TEST(Link, CarriesManyConnectionsAtOnce) {
  EchoServer server;
  auto link = StartLink(server.port());
  std::vector<std::thread> clients;
  std::atomic<int> right{0};
  for (int i = 0; i < 50; ++i) {
    clients.emplace_back([&, i] { right += Exchange(link->port(), std::to_string(i)) == std::to_string(i); });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(right, 50);
  EXPECT_EQ(link->counters().connections, 50u);
}

TEST(Link, ThatIsDownResetsAndComesBack) {
  EchoServer server;
  auto link = StartLink(server.port());
  link->SetDown(true);
  EXPECT_EQ(Exchange(link->port(), "lost"), "");
  link->SetDown(false);
  EXPECT_EQ(Exchange(link->port(), "kept"), "kept");
}

TEST(Link, GoesDownInTheMiddleOfABody) {
  EchoServer server;
  auto link = StartLink(server.port());
  link->GoDownAfter(100'000);
  const std::string text(1'000'000, 'z');
  EXPECT_LT(Exchange(link->port(), text).size(), text.size());
  EXPECT_EQ(Exchange(link->port(), "still down"), "");
}

TEST(Link, ToNowhereResets) {
  uint16_t unused;
  {
    EchoServer server;
    unused = server.port();
  }
  auto link = StartLink(unused);
  EXPECT_EQ(Exchange(link->port(), "hello"), "");
}

TEST(Link, EndsWithConnectionsOpen) {
  EchoServer server;
  auto link = StartLink(server.port());
  UniqueFd idle = ConnectTo(link->port());
  link.reset();
  char byte;
  EXPECT_LE(::recv(idle.get(), &byte, 1, 0), 0);
}

TEST(Link, CountersAreJson) {
  EXPECT_EQ((LinkCounters{3, 1, 20, 10, 2}).ToJson(),
            R"({"connections":3,"open_connections":1,"bytes_down":20,"bytes_up":10,"requests":2,)"
            R"("redirects":0,"credentials_refused":0,"unavailable":0,"resets":0,"stalls":0,"flips":0})");
}

}  // namespace
}  // namespace soci
