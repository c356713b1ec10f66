#include "bench/link/link.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "bench/link/answer_fault.h"
#include "bench/link/http_head.h"
#include "bench/link/request_counter.h"

namespace soci {
namespace {

constexpr size_t kPieceBytes = 64 << 10;
// Within an answer a connection makes up for late wake-ups, but no answer profits from the pause before it. What all
// share has no such beginning, so there the pause that counts as idle is short.
constexpr std::chrono::milliseconds kAnswerSlack(100);
constexpr std::chrono::milliseconds kTotalSlack(5);

Result<UniqueFd> Connect(const std::string& host, uint16_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (error != 0) return absl::UnavailableError(fmt::format("{}: {}", host, ::gai_strerror(error)));
  UniqueFd socket(::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int result = ::connect(socket.get(), found->ai_addr, found->ai_addrlen);
  const int connect_errno = errno;
  ::freeaddrinfo(found);
  if (result != 0) return ErrnoStatus(connect_errno, fmt::format("connect to {}:{}", host, port));
  return socket;
}

bool SendAll(int fd, const char* bytes, size_t count) {
  while (count > 0) {
    const ssize_t sent = ::send(fd, bytes, count, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes += sent;
    count -= static_cast<size_t>(sent);
  }
  return true;
}

ssize_t Receive(int fd, char* bytes, size_t count) {
  ssize_t received;
  do {
    received = ::recv(fd, bytes, count, 0);
  } while (received < 0 && errno == EINTR);
  return received;
}

// What a connection may bring without its reader must not hide in our own socket: on a real link it is with the sender.
void BoundSendBuffer(int fd) {
  const int bytes = 64 << 10;
  ::setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
}

void SendImmediately(int fd) {
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

// A socket belongs to the namespace it was made in, whoever uses it: a thread that ends moves there, and no other.
Result<UniqueFd> SocketIn(int network_namespace) {
  UniqueFd fd;
  int error = 0;
  const auto make = [&] {
    fd.Reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!fd) error = errno;
  };
  if (network_namespace < 0) {
    make();
  } else {
    std::thread([&] {
      if (::setns(network_namespace, CLONE_NEWNET) != 0) {
        error = errno;
      } else {
        make();
      }
    }).join();
  }
  if (!fd) return ErrnoStatus(error, "link: no socket to listen on");
  return fd;
}

// The peer shall see a reset, not a tidy end that could pass for a short body.
void ResetOnClose(int fd) {
  const linger immediately{1, 0};
  ::setsockopt(fd, SOL_SOCKET, SO_LINGER, &immediately, sizeof immediately);
}

}  // namespace

// Sockets are shut down to wake whoever waits in them, and closed only when both pumps are done.
struct Link::Connection {
  Connection(UniqueFd accepted, uint64_t rate) : client(std::move(accepted)), rate_limit(rate, kAnswerSlack) {}

  void Cut() {
    ResetOnClose(client.get());
    ::shutdown(client.get(), SHUT_RDWR);
    if (int fd = upstream_fd; fd >= 0) ::shutdown(fd, SHUT_RDWR);
  }

  UniqueFd client;
  UniqueFd upstream;
  std::atomic<int> upstream_fd{-1};  // as in `upstream`, for Cut()
  std::atomic<bool> answer_begins{true};
  RateLimiter rate_limit;
  Mutex fault_mutex;                         // a leaf
  Fault fault SOCI_GUARDED_BY(fault_mutex);  // of the next answer
};

std::string LinkCounters::ToJson() const {
  return fmt::format(
      R"({{"connections":{},"open_connections":{},"bytes_down":{},"bytes_up":{},"requests":{},"redirects":{},)"
      R"("credentials_refused":{},"unavailable":{},"resets":{},"stalls":{},"flips":{}}})",
      connections, open_connections, bytes_down, bytes_up, requests, redirects, credentials_refused, unavailable,
      resets, stalls, flips);
}

Result<std::unique_ptr<Link>> Link::Start(LinkOptions options) {
  auto total_rate = std::make_shared<RateLimiter>(options.total_bytes_per_second, kTotalSlack);
  std::unique_ptr<Link> blob_host;
  if (options.redirect_blobs) {
    LinkOptions second = options;
    second.redirect_blobs = false;
    second.listen_port = 0;
    SOCI_ASSIGN_OR_RETURN(blob_host, StartOne(std::move(second), total_rate, nullptr, true));
  }
  return StartOne(std::move(options), std::move(total_rate), std::move(blob_host), false);
}

Result<std::unique_ptr<Link>> Link::StartOne(LinkOptions options, std::shared_ptr<RateLimiter> total_rate,
                                             std::unique_ptr<Link> blob_host, bool is_blob_host) {
  SOCI_ASSIGN_OR_RETURN(UniqueFd listener, SocketIn(options.listen_namespace));
  const int on = 1;
  ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(options.listen_port);
  if (::inet_pton(AF_INET, options.listen_address.c_str(), &address.sin_addr) != 1) {
    return absl::InvalidArgumentError(fmt::format("link: \"{}\" is no IPv4 address", options.listen_address));
  }
  socklen_t length = sizeof address;
  if (::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), length) != 0 ||
      ::listen(listener.get(), 512) != 0 ||
      ::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    return ErrnoStatus(errno, fmt::format("listen on {}:{}", options.listen_address, options.listen_port));
  }
  return std::unique_ptr<Link>(new Link(std::move(options), std::move(listener), ntohs(address.sin_port),
                                        std::move(total_rate), std::move(blob_host), is_blob_host));
}

Link::Link(LinkOptions options, UniqueFd listener, uint16_t port, std::shared_ptr<RateLimiter> total_rate,
           std::unique_ptr<Link> blob_host, bool is_blob_host)
    : options_(std::move(options)),
      listener_(std::move(listener)),
      port_(port),
      first_byte_(options_.delay, options_.first_byte_p99, options_.seed),
      faults_(options_.faults, options_.seed),
      total_rate_(std::move(total_rate)),
      blob_host_(std::move(blob_host)),
      is_blob_host_(is_blob_host),
      accept_thread_([this] { Accept(); }) {}

Link::~Link() {
  stopping_ = true;
  ::shutdown(listener_.get(), SHUT_RDWR);
  accept_thread_.join();
  CutAll();
  MutexLock lock(mutex_);
  while (!open_.empty()) all_closed_.Wait(mutex_);
}

void Link::Accept() {
  while (!stopping_) {
    UniqueFd client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!client) {
      if (errno == EINTR || errno == ECONNABORTED || errno == EMFILE) continue;
      return;
    }
    if (down_) {
      ResetOnClose(client.get());
      continue;
    }
    ++connections_;
    auto connection = std::make_shared<Connection>(std::move(client), options_.connection_bytes_per_second);
    {
      MutexLock lock(mutex_);
      open_.push_back(connection);
    }
    // Detached, but not forgotten: the destructor waits until `open_` is empty.
    std::thread([this, connection] { Serve(connection); }).detach();
  }
}

void Link::Serve(const std::shared_ptr<Connection>& connection) {
  std::this_thread::sleep_for(options_.delay);
  Result<UniqueFd> upstream = Connect(options_.upstream_host, options_.upstream_port);
  if (upstream.ok()) {
    connection->upstream = *std::move(upstream);
    connection->upstream_fd = connection->upstream.get();
    BoundSendBuffer(connection->client.get());
    SendImmediately(connection->client.get());
    SendImmediately(connection->upstream.get());
    if (down_ || stopping_) connection->Cut();
    std::thread up([this, &connection] { PumpUp(connection); });
    PumpDown(connection);
    up.join();
  } else {
    ResetOnClose(connection->client.get());
  }
  MutexLock lock(mutex_);
  open_.erase(std::find(open_.begin(), open_.end(), connection));
  if (open_.empty()) all_closed_.NotifyAll();
}

void Link::PumpUp(const std::shared_ptr<Connection>& connection) {
  std::array<char, kPieceBytes> piece;
  RequestCounter counter;
  RequestSplitter splitter;
  for (;;) {
    const ssize_t received = Receive(connection->client.get(), piece.data(), piece.size());
    if (received <= 0) break;
    connection->answer_begins = true;
    const std::string_view bytes(piece.data(), static_cast<size_t>(received));
    requests_ += counter.Feed(bytes);
    bytes_up_ += bytes.size();
    bool sent = true;
    if (options_.ReadsRequests() || is_blob_host_) {
      for (const RequestSplitter::Piece& part : splitter.Feed(bytes)) {
        sent = sent && (part.is_head ? PassRequest(*connection, part.bytes)
                                     : SendAll(connection->upstream.get(), part.bytes.data(), part.bytes.size()));
      }
    } else {
      sent = SendAll(connection->upstream.get(), bytes.data(), bytes.size());
    }
    if (!sent) break;
  }
  ::shutdown(connection->upstream.get(), SHUT_WR);
}

// Passes a request on to upstream, or answers it here. False ends the connection.
bool Link::PassRequest(Connection& connection, const std::string& head) {
  const RequestLine line = ParseRequestLine(head);
  if (!line.IsForApi()) Pause(options_.token_delay);
  if (is_blob_host_ && !HttpHeader(head, "authorization").empty()) {
    ++credentials_refused_;
    return Answer(connection, "400 Bad Request\r\n");
  }
  if (line.IsBlobDownload()) {
    if (blob_host_) {
      ++redirects_;
      return Answer(connection, fmt::format("307 Temporary Redirect\r\nLocation: http://{}:{}{}\r\n",
                                            options_.listen_address, blob_host_->port(), line.path));
    }
    const Fault fault = faults_.Next();
    if (fault.kind == Fault::Kind::kUnavailable) {
      ++unavailable_;
      return Answer(connection, "503 Service Unavailable\r\n");
    }
    MutexLock lock(connection.fault_mutex);
    connection.fault = fault;
  }
  return SendAll(connection.upstream.get(), head.data(), head.size());
}

// Nothing else is on its way to the client: it sends a request when it has the answer to the last one.
bool Link::Answer(Connection& connection, std::string_view status_and_headers) {
  const std::string answer = fmt::format("HTTP/1.1 {}Content-Length: 0\r\n\r\n", status_and_headers);
  std::this_thread::sleep_for(first_byte_.Next());
  bytes_down_ += answer.size();
  return SendAll(connection.client.get(), answer.data(), answer.size());
}

// False ends the connection.
bool Link::ActFault(Connection& connection, Fault::Kind kind) {
  if (kind == Fault::Kind::kFlip) ++flips_;
  if (kind == Fault::Kind::kStall) {
    ++stalls_;
    Pause(options_.faults.stall_for);
  }
  if (kind != Fault::Kind::kReset) return true;
  ++resets_;
  connection.Cut();
  return false;
}

// Ends early when the link does.
void Link::Pause(std::chrono::milliseconds time) const {
  constexpr std::chrono::milliseconds kStep(20);
  for (; time.count() > 0 && !stopping_ && !down_; time -= kStep) std::this_thread::sleep_for(std::min(time, kStep));
}

void Link::PumpDown(const std::shared_ptr<Connection>& connection) {
  std::array<char, kPieceBytes> piece;
  AnswerFault answer_fault;
  for (;;) {
    const ssize_t received = Receive(connection->upstream.get(), piece.data(), piece.size());
    if (received <= 0) break;
    const uint64_t count = static_cast<uint64_t>(received);
    if (connection->answer_begins.exchange(false)) {
      std::this_thread::sleep_for(first_byte_.Next());
      connection->rate_limit.Restart(std::chrono::steady_clock::now());
      MutexLock lock(connection->fault_mutex);
      answer_fault.Begin(std::exchange(connection->fault, Fault{}));
    }
    if (!ActFault(*connection, answer_fault.Next(piece.data(), count))) return;
    const auto now = std::chrono::steady_clock::now();
    std::this_thread::sleep_until(
        std::max(connection->rate_limit.Reserve(count, now), total_rate_->Reserve(count, now)));
    if (bytes_until_down_ >= 0 && bytes_until_down_.fetch_sub(received) < received) {
      bytes_until_down_ = -1;
      SetDown(true);
    }
    // What a stall held back when the link ends is not let go: this may run before CutAll() gets here.
    if (down_ || stopping_ || !SendAll(connection->client.get(), piece.data(), count)) {
      connection->Cut();
      return;
    }
    bytes_down_ += count;
  }
  ::shutdown(connection->client.get(), SHUT_WR);
}

void Link::SetDown(bool down) {
  down_ = down;
  if (down) CutAll();
  if (blob_host_) blob_host_->SetDown(down);
}

void Link::CutAll() {
  MutexLock lock(mutex_);
  for (const std::shared_ptr<Connection>& connection : open_) connection->Cut();
}

LinkCounters Link::counters() const {
  LinkCounters all = blob_host_ ? blob_host_->counters() : LinkCounters{};
  MutexLock lock(mutex_);
  all.connections += connections_;
  all.open_connections += open_.size();
  all.bytes_down += bytes_down_;
  all.bytes_up += bytes_up_;
  all.requests += requests_;
  all.redirects += redirects_;
  all.credentials_refused += credentials_refused_;
  all.unavailable += unavailable_;
  all.resets += resets_;
  all.stalls += stalls_;
  all.flips += flips_;
  return all;
}

}  // namespace soci
