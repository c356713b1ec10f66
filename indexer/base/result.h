// Result<T>: a value, or the reason there is none.
//
// It is absl::StatusOr: gRPC brings Abseil already and its codes are gRPC's. kDataLoss = bytes do not match their
// digest; kInvalidArgument = malformed; kUnavailable = try again; kNotFound, kUnauthenticated, kPermissionDenied as
// named; kInternal = our bug. Absence that is an answer is std::optional inside. An errno travels as a payload.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace soci {

using Status = absl::Status;
template <typename T>
using Result = absl::StatusOr<T>;

inline Status OkStatus() { return absl::OkStatus(); }

// The status's text. (Debian's Abseil has a string_view of its own, so status.message() is not std's.)
inline std::string_view Message(const Status& status) { return {status.message().data(), status.message().size()}; }

// "context: old message", same code and payloads. An ok status comes back unchanged.
Status Annotate(const Status& status, std::string_view context);

// A status for a failed system call, its code chosen by `error`, the errno kept for StatusErrno().
Status ErrnoStatus(int error, std::string_view context);

// The errno a status carries, if any.
std::optional<int> StatusErrno(const Status& status);

// A number of some other kind (an HTTP status) that travels with a status, under a name of the form "soci/...".
Status WithNumber(Status status, std::string_view name, int number);
std::optional<int> NumberOf(const Status& status, std::string_view name);

}  // namespace soci

#define SOCI_CONCAT_INNER(a, b) a##b
#define SOCI_CONCAT(a, b) SOCI_CONCAT_INNER(a, b)

#define SOCI_RETURN_IF_ERROR(expression)                                                     \
  do {                                                                                       \
    if (::soci::Status soci_status_ = (expression); !soci_status_.ok()) return soci_status_; \
  } while (false)

#define SOCI_ASSIGN_OR_RETURN(left, expression) \
  SOCI_ASSIGN_OR_RETURN_INNER(SOCI_CONCAT(soci_result_, __LINE__), left, expression)
#define SOCI_ASSIGN_OR_RETURN_INNER(result, left, expression) \
  auto result = (expression);                                 \
  if (!result.ok()) return std::move(result).status();        \
  left = std::move(result).value()
