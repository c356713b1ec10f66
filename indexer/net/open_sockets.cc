#include "indexer/net/open_sockets.h"

#include <linux/socket.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "indexer/base/units.h"

namespace soci {
namespace {

constexpr uint32_t kUnbounded = 8_MiB;

int LocalPort(int socket) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &length) != 0) return -1;
  if (address.ss_family == AF_INET) return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
  if (address.ss_family == AF_INET6) return ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
  return -1;
}

bool IsBounded(int socket) {
  int locks = 0;
  socklen_t length = sizeof locks;
  return ::getsockopt(socket, SOL_SOCKET, SO_BUF_LOCK, &locks, &length) == 0 && (locks & SOCK_RCVBUF_LOCK) != 0;
}

}  // namespace

int OpenSockets::Open(int family, int type, int protocol) {
  const int socket = ::socket(family, type | SOCK_CLOEXEC, protocol);
  if (socket >= 0) sockets_.insert(socket);
  return socket;
}

int OpenSockets::Close(int socket) {
  sockets_.erase(socket);
  return ::close(socket);
}

int OpenSockets::FindByLocalPort(int port) const {
  for (int socket : sockets_) {
    if (LocalPort(socket) == port) return socket;
  }
  return -1;
}

void BoundReceiveBuffer(int socket, uint32_t bytes) {
  if (bytes == 0 && !IsBounded(socket)) return;
  const int size = static_cast<int>(bytes != 0 ? bytes : kUnbounded);
  // Beyond the system's limit where we may.
  if (::setsockopt(socket, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size) == 0) return;
  (void)::setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
}

}  // namespace soci
