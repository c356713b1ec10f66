#include "indexer/cli/exit_code.h"

#include <fmt/format.h>

#include <cstdio>

#include "indexer/base/one_line.h"

namespace soci::cli {

ExitCode ExitCodeOf(const Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return ExitCode::kDone;
    case absl::StatusCode::kNotFound:
      return ExitCode::kNotFound;
    case absl::StatusCode::kUnauthenticated:
      return ExitCode::kAuthentication;
    case absl::StatusCode::kPermissionDenied:
      // A file that may not be read has nothing to do with logging in.
      return StatusErrno(status) ? ExitCode::kFailed : ExitCode::kAuthentication;
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kDeadlineExceeded:
      return ExitCode::kNetwork;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kDataLoss:
    case absl::StatusCode::kOutOfRange:
      return ExitCode::kBadData;
    case absl::StatusCode::kUnimplemented:
      return ExitCode::kNotTaken;
    default:
      return ExitCode::kFailed;
  }
}

void PrintError(std::string_view what, const Status& status) {
  const std::string line = what.empty() ? std::string(Message(status)) : fmt::format("{}: {}", what, Message(status));
  fmt::print(stderr, "soci-index: {}\n", OneLine(line));
}

}  // namespace soci::cli
