#include "snapshotter/daemon/exit_code.h"

#include <fmt/format.h>

#include <cstdio>

#include "indexer/base/one_line.h"

namespace soci {

int ExitCodeOf(const Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return kExitDone;
    case absl::StatusCode::kNotFound:
      return 3;
    case absl::StatusCode::kUnauthenticated:
    case absl::StatusCode::kPermissionDenied:
      return 4;
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kDeadlineExceeded:
      return 5;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kDataLoss:
      return 6;
    default:
      return kExitFailed;
  }
}

int Fail(const Status& status) {
  fmt::print(stderr, "soci-snapshotter: {}\n", OneLine(Message(status)));
  return ExitCodeOf(status);
}

}  // namespace soci
