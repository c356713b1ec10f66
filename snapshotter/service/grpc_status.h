// The one place where our status becomes gRPC's: same code, same text. containerd tells NOT_FOUND, ALREADY_EXISTS,
// FAILED_PRECONDITION, INVALID_ARGUMENT, UNAVAILABLE and UNIMPLEMENTED apart; the others are "unknown" to it.
#pragma once

#include "indexer/base/result.h"

namespace grpc {
class Status;
}

namespace soci {

grpc::Status ToGrpc(const Status& status);

}  // namespace soci
