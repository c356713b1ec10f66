// The sockets of a transport's connections: opens and closes them for libcurl, and finds the one that a request goes
// out on, which libcurl does not tell. Network thread only.
#pragma once

#include <cstdint>
#include <set>

namespace soci {

class OpenSockets {
 public:
  // As ::socket, closed on exec: a credential helper must not inherit our connections.
  int Open(int family, int type, int protocol);
  int Close(int socket);
  // The TCP connection from that port of ours; -1: none.
  int FindByLocalPort(int port) const;

 private:
  std::set<int> sockets_;
};

// At most about so many bytes lie in the connection's receive buffer. A buffer that was bounded once is not grown by
// the kernel any more, so 0, no bound, gives such a one a size that does not bind.
void BoundReceiveBuffer(int socket, uint32_t bytes);

}  // namespace soci
