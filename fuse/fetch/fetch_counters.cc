#include "fuse/fetch/fetch_counters.h"

namespace soci {

FetchFault FaultOf(const Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kDeadlineExceeded:
      return FetchFault::kTimeout;
    case absl::StatusCode::kDataLoss:
      return FetchFault::kDigest;
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kUnauthenticated:
      return FetchFault::kRefused;
    default:
      return FetchFault::kNetwork;
  }
}

}  // namespace soci
