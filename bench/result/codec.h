// A result as JSON: one object with "format": 1 and the names of result.h's fields.
//
// What is read back equals what was written. Reading trusts nothing: a key it does not know, a value of another kind, a
// number out of range or a file over 256 MiB is one error that names the place. A missing key keeps its default. A
// number that is not finite is null in JSON. Pure but for the two that take a path; any thread.
#pragma once

#include <string>
#include <string_view>

#include "bench/result/result.h"
#include "indexer/base/result.h"

namespace soci::bench {

std::string ToJson(const Result& result);
soci::Result<Result> FromJson(std::string_view json);

Status WriteResult(const Result& result, const std::string& path);
soci::Result<Result> ReadResult(const std::string& path);

}  // namespace soci::bench
