#include "snapshotter/service/grpc_status.h"

#include <grpcpp/support/status.h>

namespace soci {

grpc::Status ToGrpc(const Status& status) {
  // The text travels in HTTP/2 trailers, which peers limit to 8 KiB after percent-encoding.
  constexpr size_t kLongestText = 2000;
  if (status.ok()) return grpc::Status::OK;
  return {static_cast<grpc::StatusCode>(status.raw_code()), std::string(Message(status).substr(0, kLongestText))};
}

}  // namespace soci
