#include "bench/run/workload.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <charconv>

#include "indexer/base/unique_fd.h"

namespace soci::bench {
namespace {

UniqueFd ConnectTo(uint16_t port) {
  UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const timeval second{1, 0};
  ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &second, sizeof second);
  ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &second, sizeof second);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) fd.Reset();
  return fd;
}

}  // namespace

Status SetReadyUrl(const std::string& url, Workload& workload) {
  const auto wrong = [&] {
    return absl::InvalidArgumentError(fmt::format("\"{}\" is no http://127.0.0.1:PORT/PATH", url));
  };
  std::string_view rest = url;
  for (std::string_view prefix : {"http://127.0.0.1", "http://localhost"}) {
    if (rest.substr(0, prefix.size()) == prefix) {
      rest.remove_prefix(prefix.size());
      break;
    }
  }
  if (rest.size() == url.size()) return wrong();
  workload.ready = Workload::Ready::kHttp;
  workload.port = 80;
  if (!rest.empty() && rest[0] == ':') {
    const auto parsed = std::from_chars(rest.data() + 1, rest.data() + rest.size(), workload.port);
    if (parsed.ec != std::errc() || workload.port == 0) return wrong();
    rest.remove_prefix(static_cast<size_t>(parsed.ptr - rest.data()));
  }
  if (!rest.empty() && rest[0] != '/') return wrong();
  workload.path = rest.empty() ? "/" : std::string(rest);
  return OkStatus();
}

bool PortIsOpen(uint16_t port) { return bool(ConnectTo(port)); }

bool AnswersWith200(uint16_t port, const std::string& path) {
  const UniqueFd fd = ConnectTo(port);
  if (!fd) return false;
  const std::string request = fmt::format("GET {} HTTP/1.0\r\nHost: 127.0.0.1:{}\r\n\r\n", path, port);
  if (::send(fd.get(), request.data(), request.size(), MSG_NOSIGNAL) < 0) return false;
  std::array<char, 64> answer;
  const ssize_t count = ::recv(fd.get(), answer.data(), answer.size(), 0);
  const std::string_view head(answer.data(), count > 0 ? static_cast<size_t>(count) : 0);
  return head.substr(0, 7) == "HTTP/1." && head.substr(8, 5) == " 200 ";
}

}  // namespace soci::bench
