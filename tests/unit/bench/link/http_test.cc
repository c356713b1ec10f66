// The link where it reads requests: redirects, faults and who gets how much, counted at both ends of real sockets.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "bench/link/answer_fault.h"
#include "bench/link/http_head.h"
#include "bench/link/link.h"
#include "bench/link/options.h"

namespace soci {
namespace {

using ::testing::HasSubstr;

constexpr size_t kBodyBytes = 200'000;
const std::string kBlobPath = "/v2/some/image/blobs/sha256:" + std::string(64, 'a');

UniqueFd Listener(uint16_t& port) {
  UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  EXPECT_EQ(::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), length), 0);
  EXPECT_EQ(::listen(fd.get(), 128), 0);
  ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &length);
  port = ntohs(address.sin_port);
  return fd;
}

// Answers every request with the same body.
class Server {
 public:
  explicit Server(size_t body_bytes = kBodyBytes)
      : body_bytes_(body_bytes), listener_(Listener(port_)), thread_([this] { Run(); }) {}
  ~Server() {
    ::shutdown(listener_.get(), SHUT_RDWR);
    thread_.join();
  }
  uint16_t port() const { return port_; }
  int requests() const { return requests_; }

 private:
  void Run() {
    std::vector<std::thread> threads;
    for (;;) {
      UniqueFd client(::accept(listener_.get(), nullptr, nullptr));
      if (!client) break;
      threads.emplace_back([this, fd = std::move(client)] { Serve(fd.get()); });
    }
    for (std::thread& thread : threads) thread.join();
  }
  void Serve(int fd) {
    const std::string answer = "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body_bytes_) + "\r\n\r\n" +
                               std::string(body_bytes_, '\0');
    RequestSplitter splitter;
    char piece[4096];
    for (ssize_t n; (n = ::recv(fd, piece, sizeof piece, 0)) > 0;) {
      for (const auto& part : splitter.Feed({piece, static_cast<size_t>(n)})) {
        if (!part.is_head) continue;
        ++requests_;
        for (size_t sent = 0; sent < answer.size();) {
          const ssize_t count = ::send(fd, answer.data() + sent, answer.size() - sent, MSG_NOSIGNAL);
          if (count <= 0) return;
          sent += static_cast<size_t>(count);
        }
      }
    }
  }

  const size_t body_bytes_;
  uint16_t port_ = 0;
  UniqueFd listener_;
  std::atomic<int> requests_{0};
  std::thread thread_;
};

struct Answer {
  std::string head, body;
  bool whole = false;
};

class Client {
 public:
  explicit Client(uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }

  Answer Get(const std::string& path, const std::string& headers = "", std::atomic<uint64_t>* progress = nullptr) {
    const std::string request = "GET " + path + " HTTP/1.1\r\nHost: x\r\n" + headers + "\r\n";
    ::send(fd_.get(), request.data(), request.size(), MSG_NOSIGNAL);
    Answer answer;
    std::string all;
    size_t body = 0, length = 0;
    char piece[16384];
    for (ssize_t n; !answer.whole && (n = ::recv(fd_.get(), piece, sizeof piece, 0)) > 0;) {
      all.append(piece, static_cast<size_t>(n));
      if (progress != nullptr) *progress += static_cast<uint64_t>(n);
      if (const size_t end = all.find("\r\n\r\n"); body == 0 && end != std::string::npos) {
        answer.head = all.substr(0, end + 2);
        body = end + 4;
        length = std::stoul(std::string(HttpHeader(answer.head, "content-length")));
      }
      answer.whole = body > 0 && all.size() == body + length;
    }
    if (body > 0) answer.body = all.substr(body);
    return answer;
  }

 private:
  UniqueFd fd_;
};

std::unique_ptr<Link> LinkOf(const Server& server, const std::string& text) {
  LinkOptions options = ParseLink("0ms,0,0," + text).value();
  options.upstream_port = server.port();
  return Link::Start(options).value();
}

TEST(LinkRedirect, BlobsComeFromASecondPortAndEverythingElseFromTheFirst) {
  Server server;
  auto link = LinkOf(server, "redirect");
  Client client(link->port());
  EXPECT_TRUE(client.Get("/v2/some/image/manifests/v1").whole);
  const Answer redirect = client.Get(kBlobPath);
  ASSERT_THAT(redirect.head, HasSubstr("HTTP/1.1 307 "));
  const std::string location(HttpHeader(redirect.head, "location"));
  const std::string prefix = "http://127.0.0.1:";
  ASSERT_EQ(location.rfind(prefix, 0), 0u);
  const auto port = static_cast<uint16_t>(std::stoul(location.substr(prefix.size())));
  EXPECT_NE(port, link->port());
  EXPECT_EQ(location.substr(location.find('/', prefix.size())), kBlobPath);
  EXPECT_EQ(server.requests(), 1);
  EXPECT_EQ(Client(port).Get(kBlobPath).body, std::string(kBodyBytes, '\0'));
  EXPECT_EQ(server.requests(), 2);
  const LinkCounters counters = link->counters();
  EXPECT_EQ(counters.redirects, 1u);
  EXPECT_EQ(counters.requests, 3u);
  EXPECT_EQ(counters.connections, 2u);
  // Counted after they are sent, so perhaps after they are here.
  while (link->counters().bytes_down <= 2 * kBodyBytes) std::this_thread::yield();
}

TEST(LinkRedirect, TheSecondPortRefusesCredentials) {
  Server server;
  auto link = LinkOf(server, "redirect");
  const Answer redirect = Client(link->port()).Get(kBlobPath, "Authorization: Bearer x\r\n");
  const std::string location(HttpHeader(redirect.head, "location"));
  const auto port = static_cast<uint16_t>(std::stoul(location.substr(location.rfind(':', location.find("/v2/")) + 1)));
  EXPECT_THAT(Client(port).Get(kBlobPath, "Authorization: Bearer x\r\n").head, HasSubstr("HTTP/1.1 400 "));
  EXPECT_EQ(link->counters().credentials_refused, 1u);
  EXPECT_EQ(server.requests(), 0);
}

TEST(LinkFaults, TheirShareOfTheBlobsIsRefusedAndTheSameWithTheSameSeed) {
  Server server;
  std::vector<std::string> outcomes;
  for (int i = 0; i < 2; ++i) {
    auto link = LinkOf(server, "503=0.3,seed=5");
    Client client(link->port());
    std::string outcome;
    for (int request = 0; request < 100; ++request) outcome += client.Get(kBlobPath).head.substr(9, 3) + " ";
    EXPECT_GT(link->counters().unavailable, 15u);
    EXPECT_LT(link->counters().unavailable, 45u);
    EXPECT_EQ(static_cast<uint64_t>(std::count(outcome.begin(), outcome.end(), '5')), link->counters().unavailable);
    outcomes.push_back(outcome);
  }
  EXPECT_EQ(outcomes[0], outcomes[1]);
}

TEST(LinkFaults, OnlyBlobsFail) {
  Server server;
  auto link = LinkOf(server, "503=1");
  EXPECT_TRUE(Client(link->port()).Get("/v2/some/image/manifests/v1").whole);
  EXPECT_EQ(link->counters().unavailable, 0u);
}

TEST(LinkFaults, AResetCutsTheBody) {
  Server server;
  auto link = LinkOf(server, "reset=1");
  EXPECT_FALSE(Client(link->port()).Get(kBlobPath).whole);
  EXPECT_EQ(link->counters().resets, 1u);
}

TEST(LinkFaults, ABitFlipTurnsOneBitOfTheBody) {
  Server server;
  auto link = LinkOf(server, "flip=1");
  Client client(link->port());
  for (int request = 1; request <= 5; ++request) {
    const Answer answer = client.Get(kBlobPath);
    ASSERT_TRUE(answer.whole);
    int bits = 0;
    for (const char byte : answer.body) bits += __builtin_popcount(static_cast<unsigned char>(byte));
    EXPECT_EQ(bits, 1);
    EXPECT_EQ(link->counters().flips, static_cast<uint64_t>(request));
  }
}

TEST(LinkFaults, AfterAStallTheBodyGoesOn) {
  Server server;
  auto link = LinkOf(server, "stall=1,stall-for=1ms");
  EXPECT_EQ(Client(link->port()).Get(kBlobPath).body, std::string(kBodyBytes, '\0'));
  EXPECT_EQ(link->counters().stalls, 1u);
}

TEST(LinkFaults, AStallEndsWithTheLink) {
  Server server;
  auto link = LinkOf(server, "stall=1,stall-for=1000s");
  std::atomic<uint64_t> progress{0};
  std::thread client([&, port = link->port()] { EXPECT_FALSE(Client(port).Get(kBlobPath, "", &progress).whole); });
  while (link->counters().stalls == 0) std::this_thread::yield();
  link.reset();
  client.join();
}

// So slowly that the link decides who gets how much, and not the scheduler of a busy machine.
TEST(LinkFairness, TwoConnectionsShareTheTotal) {
  constexpr size_t kBytes = 4'000'000;
  Server server(kBytes);
  LinkOptions options{.upstream_port = server.port(), .total_bytes_per_second = 8'000'000};
  auto link = Link::Start(options).value();
  std::atomic<uint64_t> got[2] = {0, 0};
  std::atomic<uint64_t> other_at_end{UINT64_MAX};
  std::atomic<int> ready{0};
  std::vector<std::thread> clients;
  for (int i = 0; i < 2; ++i) {
    clients.emplace_back([&, i] {
      Client client(link->port());
      ++ready;
      while (ready < 2) std::this_thread::yield();
      client.Get(kBlobPath, "", &got[i]);
      uint64_t none = UINT64_MAX;
      other_at_end.compare_exchange_strong(none, got[1 - i]);
    });
  }
  for (std::thread& client : clients) client.join();
  // What the slower one had when the faster one was done: half as much, if TCP did not wait for a window's probe (0.2
  // s).
  EXPECT_GT(other_at_end, kBytes / 10);
}

TEST(AnswerFault, FindsItsByteWhereverThePiecesAreCut) {
  const std::string answer = "HTTP/1.1 200 OK\r\nX: y\r\n\r\n" + std::string(10, '\0');
  for (size_t piece = 1; piece <= answer.size(); ++piece) {
    AnswerFault fault;
    fault.Begin({Fault::Kind::kFlip, 7, 3});
    std::string seen;
    int flips = 0;
    for (size_t at = 0; at < answer.size(); at += piece) {
      std::string part = answer.substr(at, piece);
      flips += fault.Next(part.data(), part.size()) == Fault::Kind::kFlip;
      seen += part;
    }
    std::string wanted = answer;
    wanted[answer.size() - 3] = 8;
    EXPECT_EQ(seen, wanted);
    EXPECT_EQ(flips, 1);
  }
}

TEST(RequestSplitter, CutsHeadsFromBodiesWhereverThePiecesAreCut) {
  const std::string head = "PUT /a HTTP/1.1\r\nContent-Length: 5\r\n\r\n", next = "GET /b HTTP/1.1\r\n\r\n";
  const std::string all = head + "GET /" + next;
  for (size_t piece = 1; piece <= all.size(); ++piece) {
    RequestSplitter splitter;
    std::vector<std::string> heads;
    std::string rest;
    for (size_t at = 0; at < all.size(); at += piece) {
      for (auto& part : splitter.Feed(std::string_view(all).substr(at, piece))) {
        if (part.is_head) heads.push_back(part.bytes);
        if (!part.is_head) rest += part.bytes;
      }
    }
    EXPECT_THAT(heads, ::testing::ElementsAre(head, next));
    EXPECT_EQ(rest, "GET /");
  }
}

TEST(RequestSplitter, PassesOnWhatIsNoHttp) {
  RequestSplitter splitter;
  const auto pieces = splitter.Feed("\x16\x03\x01 something\r\n\r\n");
  ASSERT_EQ(pieces.size(), 1u);
  EXPECT_FALSE(pieces[0].is_head);
}

TEST(LinkNotation, FaultsRedirectsAndTokensAreRead) {
  const LinkOptions link =
      ParseLink("A,redirect,token=50ms,503=10%,reset=0.01,stall=1%,stall-for=2s,flip=0.5,seed=9").value();
  EXPECT_TRUE(link.redirect_blobs);
  EXPECT_EQ(link.token_delay.count(), 50);
  EXPECT_DOUBLE_EQ(link.faults.unavailable, 0.1);
  EXPECT_DOUBLE_EQ(link.faults.reset, 0.01);
  EXPECT_EQ(link.faults.stall_for.count(), 2000);
  EXPECT_EQ(link.seed, 9u);
  EXPECT_THAT(LinkText(link), HasSubstr("blobs redirected, 10 % 503, 1 % reset, 1 % stalled, 50 % with a false bit"));
}

TEST(LinkNotation, FaultsOfMoreThanAllAreRefused) {
  EXPECT_FALSE(ParseLink("A,503=1.5").ok());
  EXPECT_FALSE(ParseLink("A,503=0.6,reset=0.6").ok());
}

TEST(LinkNotation, ProfileDIsAWithALimitedDisk) {
  const auto link = ParseLink("D");
  ASSERT_TRUE(link.ok());
  EXPECT_EQ(link->disk_bytes_per_second, 125'000'000u);
  EXPECT_EQ(LinkText(*link), LinkText(*ParseLink("A")) + ", 125 MB/s to and from the disk, each");
  EXPECT_EQ(ParseLink("A,disk=20MB/s")->disk_bytes_per_second, 20'000'000u);
}

}  // namespace
}  // namespace soci
