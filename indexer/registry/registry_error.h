// Turns a registry's refusal into a Status: the code callers decide by, one line for people, the HTTP status kept.
//
// The text of an answer is a stranger's: it is shortened, made printable, and what looks like a secret (URLs with a
// query, tokens) is left out. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "indexer/base/result.h"

namespace soci {

// 401 kUnauthenticated, 403 kPermissionDenied, 404 and 410 kNotFound, 405 kUnimplemented, 400 kInvalidArgument, 409 and
// 412 kAborted, 416 kOutOfRange, 429 and 5xx kUnavailable, all else kFailedPrecondition. `body` may hold the OCI error
// JSON.
Status HttpErrorStatus(int http_status, std::string_view body, std::string_view what);

// The HTTP status behind a Status, if there was one.
std::optional<int> HttpStatusOf(const Status& status);
Status WithHttpStatus(Status status, int http_status);

// "NAME_UNKNOWN: repository name not known to registry" from the JSON of an error answer; "" if it is none.
std::string DescribeErrorBody(std::string_view body);

}  // namespace soci
