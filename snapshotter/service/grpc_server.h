// Serves the snapshotter to containerd on a unix socket, from construction to destruction.
//
// The socket is for root alone. One left behind by a dead process is replaced; one that somebody answers is not ours to
// take. Start and Stop belong to one thread; calls come in on gRPC's own.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "indexer/base/result.h"

namespace soci {

class Snapshotter;

class GrpcServer {
 public:
  // Borrows the snapshotter. kFailedPrecondition: somebody serves that socket, or the path is something else;
  // kInvalidArgument: the path is too long for a socket.
  static Result<std::unique_ptr<GrpcServer>> Start(Snapshotter& snapshotter, const std::string& socket);
  ~GrpcServer();  // Stop
  GrpcServer(const GrpcServer&) = delete;
  GrpcServer& operator=(const GrpcServer&) = delete;

  // Takes no new calls, gives those under way `grace` to end, cancels the rest, removes the socket.
  void Stop(std::chrono::milliseconds grace = std::chrono::seconds(5));

 private:
  struct Parts;
  explicit GrpcServer(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace soci
