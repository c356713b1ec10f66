#include "snapshotter/service/grpc_server.h"

#include <fmt/format.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/service_type.h>
#include <sys/stat.h>

#include <cerrno>

#include "snapshotter/service/snapshot_service.h"
#include "snapshotter/service/socket_path.h"

namespace soci {

struct GrpcServer::Parts {
  std::unique_ptr<grpc::Service> snapshots;
  std::unique_ptr<grpc::Server> server;
};

GrpcServer::GrpcServer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
GrpcServer::~GrpcServer() { Stop(); }

Result<std::unique_ptr<GrpcServer>> GrpcServer::Start(Snapshotter& snapshotter, const std::string& socket) {
  SOCI_RETURN_IF_ERROR(ClaimSocketPath(socket));
  auto parts = std::make_unique<Parts>();
  parts->snapshots = MakeSnapshotService(snapshotter);
  grpc::ServerBuilder builder;
  builder.AddListeningPort("unix:" + socket, grpc::InsecureServerCredentials());
  builder.RegisterService(parts->snapshots.get());
  parts->server = builder.BuildAndStart();
  if (!parts->server) return absl::FailedPreconditionError(fmt::format("{}: cannot be served", socket));
  if (::chmod(socket.c_str(), 0600) != 0) return ErrnoStatus(errno, socket);
  return std::unique_ptr<GrpcServer>(new GrpcServer(std::move(parts)));
}

void GrpcServer::Stop(std::chrono::milliseconds grace) {
  if (!parts_) return;
  parts_->server->Shutdown(std::chrono::system_clock::now() + grace);
  parts_->server->Wait();
  parts_.reset();
}

}  // namespace soci
