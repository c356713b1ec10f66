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
  return WithNumber(std::move(status), kErrnoPayload, error);
}

std::optional<int> StatusErrno(const Status& status) { return NumberOf(status, kErrnoPayload); }

Status WithNumber(Status status, std::string_view name, int number) {
  status.SetPayload({name.data(), name.size()}, absl::Cord(std::to_string(number)));
  return status;
}

std::optional<int> NumberOf(const Status& status, std::string_view name) {
  auto payload = status.GetPayload({name.data(), name.size()});
  if (!payload) return std::nullopt;
  std::string text(*payload);
  int number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace soci
