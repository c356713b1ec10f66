#include "indexer/base/result.h"

#include <absl/strings/cord.h>
#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <system_error>

namespace soci {
namespace {

constexpr char kErrnoPayload[] = "soci/errno";

absl::StatusCode CodeOf(int error) {
  switch (error) {
    case ENOENT:
    case ENODEV:
      return absl::StatusCode::kNotFound;
    case EEXIST:
      return absl::StatusCode::kAlreadyExists;
    case EACCES:
    case EPERM:
      return absl::StatusCode::kPermissionDenied;
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
      return absl::StatusCode::kResourceExhausted;
    case ECONNREFUSED:
    case ECONNRESET:
    case EAGAIN:
    case EINTR:
    case EBUSY:
      return absl::StatusCode::kUnavailable;
    default:
      return absl::StatusCode::kUnknown;
  }
}

}  // namespace

Status Annotate(const Status& status, std::string_view context) {
  if (status.ok()) return status;
  Status annotated(status.code(), fmt::format("{}: {}", context, Message(status)));
  status.ForEachPayload([&](absl::string_view url, const absl::Cord& payload) { annotated.SetPayload(url, payload); });
  return annotated;
}

Status ErrnoStatus(int error, std::string_view context) {
  Status status(CodeOf(error), fmt::format("{}: {}", context, std::generic_category().message(error)));
  status.SetPayload(kErrnoPayload, absl::Cord(std::to_string(error)));
  return status;
}

std::optional<int> StatusErrno(const Status& status) {
  auto payload = status.GetPayload(kErrnoPayload);
  if (!payload) return std::nullopt;
  std::string text(*payload);
  int error = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), error).ec != std::errc()) return std::nullopt;
  return error;
}

}  // namespace soci
