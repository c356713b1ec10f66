#include "bench/link/calibration.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <functional>
#include <optional>

namespace soci {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr size_t kPieceBytes = 256 << 10;
constexpr int kDelaySamples = 21;
constexpr uint64_t kMostConnections = 64;

// Answers each line that is a number with so many bytes.
class ByteSourceServer {
 public:
  static Result<std::unique_ptr<ByteSourceServer>> Start() {
    UniqueFd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    if (::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), length) != 0 ||
        ::listen(listener.get(), 128) != 0 ||
        ::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &length) != 0) {
      return ErrnoStatus(errno, "calibration: listen");
    }
    return std::unique_ptr<ByteSourceServer>(new ByteSourceServer(std::move(listener), ntohs(address.sin_port)));
  }
  ~ByteSourceServer() {
    ::shutdown(listener_.get(), SHUT_RDWR);
    accept_.join();
  }
  uint16_t port() const { return port_; }

 private:
  ByteSourceServer(UniqueFd listener, uint16_t port)
      : listener_(std::move(listener)), port_(port), accept_([this] { Accept(); }) {}

  void Accept() {
    std::vector<std::thread> threads;
    for (;;) {
      UniqueFd client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!client) break;
      threads.emplace_back([fd = std::move(client)] { Serve(fd.get()); });
    }
    for (std::thread& thread : threads) thread.join();
  }

  static void Serve(int fd) {
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    const std::string zeros(kPieceBytes, '\0');
    std::array<char, 64> line;
    for (ssize_t count; (count = ::recv(fd, line.data(), line.size(), 0)) > 0;) {
      uint64_t left = 0;
      std::from_chars(line.data(), line.data() + count, left);
      while (left > 0) {
        const ssize_t sent = ::send(fd, zeros.data(), std::min<uint64_t>(left, zeros.size()), MSG_NOSIGNAL);
        if (sent <= 0) return;
        left -= static_cast<uint64_t>(sent);
      }
    }
  }

  const UniqueFd listener_;
  const uint16_t port_;
  std::thread accept_;  // last: it uses the above
};

class Download {
 public:
  Download(uint16_t port, const std::stop_token& stop) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) fd_.Reset();
    if (fd_) cut_.emplace(stop, [fd = fd_.get()] { ::shutdown(fd, SHUT_RDWR); });
  }

  struct Times {
    SteadyClock::duration first_byte{0};
    SteadyClock::duration all{0};
  };
  // Nothing if the connection broke, or was stopped.
  std::optional<Times> Get(uint64_t bytes) {
    const std::string line = fmt::format("{}\n", bytes);
    const auto start = SteadyClock::now();
    if (!fd_ || ::send(fd_.get(), line.data(), line.size(), MSG_NOSIGNAL) < 0) return std::nullopt;
    Times times;
    std::vector<char> piece(kPieceBytes);
    for (uint64_t got = 0; got < bytes;) {
      const ssize_t count = ::recv(fd_.get(), piece.data(), piece.size(), 0);
      if (count <= 0) return std::nullopt;
      if (got == 0) times.first_byte = SteadyClock::now() - start;
      got += static_cast<uint64_t>(count);
    }
    times.all = SteadyClock::now() - start;
    return times;
  }

 private:
  UniqueFd fd_;
  std::optional<std::stop_callback<std::function<void()>>> cut_;  // before the descriptor goes
};

double Seconds(SteadyClock::duration time) { return std::chrono::duration<double>(time).count(); }

Status Broken() { return absl::UnavailableError("calibration: a download through the link broke"); }

// Median over answers on a connection that is open already.
Result<double> DelayMs(uint16_t port, const std::stop_token& stop) {
  Download download(port, stop);
  if (!download.Get(1)) return Broken();
  std::vector<double> samples;
  for (int i = 0; i < kDelaySamples; ++i) {
    const auto times = download.Get(1);
    if (!times) return Broken();
    samples.push_back(Seconds(times->first_byte) * 1000);
  }
  std::nth_element(samples.begin(), samples.begin() + kDelaySamples / 2, samples.end());
  return samples[kDelaySamples / 2];
}

// Of downloads at the same time. The clock begins with the first byte: what comes before is the delay's.
Result<double> BytesPerSecond(uint16_t port, uint64_t connections, uint64_t bytes, const std::stop_token& stop) {
  std::vector<std::unique_ptr<Download>> downloads;
  for (uint64_t i = 0; i < connections; ++i) {
    downloads.push_back(std::make_unique<Download>(port, stop));
    if (!downloads.back()->Get(1)) return Broken();
  }
  std::vector<std::optional<Download::Times>> times(connections);
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < connections; ++i) {
    threads.emplace_back([&, i] { times[i] = downloads[i]->Get(bytes / connections); });
  }
  for (std::thread& thread : threads) thread.join();
  SteadyClock::duration first = SteadyClock::duration::max(), last{0};
  for (const auto& time : times) {
    if (!time) return Broken();
    first = std::min(first, time->first_byte);
    last = std::max(last, time->all);
  }
  return static_cast<double>(bytes / connections * connections) / Seconds(last - first);
}

// One more than fill the link, so that its total is the limit.
uint64_t ConnectionsToFill(const LinkOptions& link) {
  if (link.connection_bytes_per_second == 0) return 4;
  return std::clamp<uint64_t>(link.total_bytes_per_second / link.connection_bytes_per_second + 2, 2, kMostConnections);
}

}  // namespace

bool Calibration::Within(double share) const {
  return std::all_of(figures.begin(), figures.end(),
                     [&](const CalibratedFigure& figure) { return std::abs(figure.deviation()) <= share; });
}

std::string Calibration::ToText() const {
  std::string text;
  for (const CalibratedFigure& figure : figures) {
    const bool time = figure.name == "delay";
    text += fmt::format("{}{} {:.1f} {} ({:+.1f} %)", text.empty() ? "" : ", ", figure.name,
                        time ? figure.measured : figure.measured / 1e6, time ? "ms" : "MB/s", figure.deviation() * 100);
  }
  return text.empty() ? "nothing is limited" : text;
}

namespace {

Result<Calibration> Measure(const LinkOptions& options, uint64_t bytes, const std::stop_token& stop) {
  SOCI_ASSIGN_OR_RETURN(const auto server, ByteSourceServer::Start());
  LinkOptions own = options;
  own.upstream_host = "127.0.0.1";
  own.upstream_port = server->port();
  own.listen_port = 0;
  // The median of so few draws says nothing; with a spread the proxy's own part of the delay is what can be checked.
  own.first_byte_p99 = std::chrono::milliseconds(0);
  SOCI_ASSIGN_OR_RETURN(const auto link, Link::Start(own));
  Calibration calibration;
  if (own.delay.count() > 0) {
    SOCI_ASSIGN_OR_RETURN(const double measured, DelayMs(link->port(), stop));
    calibration.figures.push_back({"delay", static_cast<double>(own.delay.count()), measured});
  }
  const uint64_t one = own.connection_bytes_per_second, all = own.total_bytes_per_second;
  if (one > 0) {
    SOCI_ASSIGN_OR_RETURN(const double measured, BytesPerSecond(link->port(), 1, bytes, stop));
    const uint64_t wanted = all > 0 ? std::min(one, all) : one;
    calibration.figures.push_back({"one connection", static_cast<double>(wanted), measured});
  }
  if (all > 0) {
    const uint64_t connections = ConnectionsToFill(own);
    SOCI_ASSIGN_OR_RETURN(const double measured, BytesPerSecond(link->port(), connections, bytes, stop));
    calibration.figures.push_back({fmt::format("{} connections", connections), static_cast<double>(all), measured});
  }
  return calibration;
}

}  // namespace

Result<Calibration> Calibrate(const LinkOptions& options, uint64_t bytes, const std::stop_token& stop) {
  Result<Calibration> calibration = Measure(options, bytes, stop);
  if (stop.stop_requested()) return absl::CancelledError("interrupted while it was calibrated");
  return calibration;
}

}  // namespace soci
