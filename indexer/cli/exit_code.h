// What the program tells its caller: a number for the pipeline, a line for the person. docs/indexing.md lists them.
#pragma once

#include <string>
#include <string_view>

#include "indexer/base/result.h"

namespace soci::cli {

enum class ExitCode : int {
  kDone = 0,
  kFailed = 1,
  kUsage = 2,
  kNotFound = 3,
  kAuthentication = 4,
  kNetwork = 5,
  kBadData = 6,         // does not match its digest, or is malformed
  kPartDone = 7,        // some layers, or some platforms, could not be indexed
  kNothingToIndex = 8,  // no layer is of a kind and size that gets a zTOC
  kNotTaken = 9,        // the registry takes no index: it refuses such manifests, or all pushes
};

ExitCode ExitCodeOf(const Status& status);

// "soci-index: <what>: <message>" and a line feed, whatever control characters the message has. Goes to standard error.
void PrintError(std::string_view what, const Status& status);

}  // namespace soci::cli
