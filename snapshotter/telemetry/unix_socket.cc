#include "snapshotter/telemetry/unix_socket.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>

namespace soci {
namespace {

Result<sockaddr_un> AddressOf(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    return absl::InvalidArgumentError(fmt::format("socket path {} is too long", path));
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

Result<UniqueFd> OpenSocket() {
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return ErrnoStatus(errno, "socket");
  return socket;
}

Status WaitFor(const UniqueFd& socket, short events, std::chrono::milliseconds patience) {
  pollfd poll{socket.get(), events, 0};
  int ready;
  do {
    ready = ::poll(&poll, 1, static_cast<int>(patience.count()));
  } while (ready < 0 && errno == EINTR);
  if (ready < 0) return ErrnoStatus(errno, "poll");
  if (ready == 0) return absl::DeadlineExceededError("the other side does nothing");
  return OkStatus();
}

}  // namespace

Result<UniqueFd> ListenUnix(const std::string& path) {
  SOCI_ASSIGN_OR_RETURN(sockaddr_un address, AddressOf(path));
  if (ConnectUnix(path).ok()) return absl::AlreadyExistsError(fmt::format("socket {} is in use", path));
  SOCI_ASSIGN_OR_RETURN(UniqueFd socket, OpenSocket());
  ::unlink(path.c_str());
  const mode_t before = ::umask(0177);
  const int bound = ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  const int error = errno;
  ::umask(before);
  if (bound != 0) return ErrnoStatus(error, "binding socket " + path);
  if (::listen(socket.get(), 16) != 0) return ErrnoStatus(errno, "listening on " + path);
  return socket;
}

Result<UniqueFd> ConnectUnix(const std::string& path) {
  SOCI_ASSIGN_OR_RETURN(sockaddr_un address, AddressOf(path));
  SOCI_ASSIGN_OR_RETURN(UniqueFd socket, OpenSocket());
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    if (errno == ENOENT || errno == ECONNREFUSED || errno == EAGAIN) {
      return absl::UnavailableError(fmt::format("nobody answers at {}", path));
    }
    return ErrnoStatus(errno, "connecting to " + path);
  }
  return socket;
}

Status SendLine(const UniqueFd& socket, std::string_view line, std::chrono::milliseconds patience) {
  std::string rest = std::string(line) + "\n";
  while (!rest.empty()) {
    const ssize_t sent = ::send(socket.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      rest.erase(0, static_cast<size_t>(sent));
    } else if (errno == EAGAIN) {
      SOCI_RETURN_IF_ERROR(WaitFor(socket, POLLOUT, patience));
    } else if (errno != EINTR) {
      return ErrnoStatus(errno, "sending");
    }
  }
  return OkStatus();
}

Result<std::string> ReceiveLine(const UniqueFd& socket, size_t limit, std::chrono::milliseconds patience) {
  std::string line;
  char piece[16384];
  while (true) {
    const ssize_t got = ::recv(socket.get(), piece, sizeof(piece), 0);
    if (got == 0) return absl::UnavailableError("the other side closed the connection");
    if (got < 0 && errno == EAGAIN) {
      SOCI_RETURN_IF_ERROR(WaitFor(socket, POLLIN, patience));
    } else if (got < 0 && errno != EINTR) {
      return ErrnoStatus(errno, "receiving");
    } else if (got > 0) {
      line.append(piece, static_cast<size_t>(got));
      if (size_t end = line.find('\n', line.size() - static_cast<size_t>(got)); end != std::string::npos) {
        line.resize(end);
        return line;
      }
      if (line.size() > limit) return absl::ResourceExhaustedError(fmt::format("a line of over {} bytes", limit));
    }
  }
}

}  // namespace soci
