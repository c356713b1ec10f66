// What every verb begins with: the target opened and its platforms chosen, errors printed in one way.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "indexer/base/fetch_context.h"
#include "indexer/cli/commands.h"
#include "indexer/cli/connection.h"
#include "indexer/index/select_platforms.h"

namespace soci::cli {

// For documents and small blobs: somebody waits.
inline const FetchContext kDocumentContext{.fetch_class = FetchClass::kDemand, .budget = std::chrono::minutes(2)};
// For whole layers, which may take hours: the budget is for each stretch without a byte.
inline const FetchContext kLayerContext{.fetch_class = FetchClass::kFill, .budget = std::chrono::minutes(2)};

// Says "usage" for a target or platform that cannot be understood, before anything is opened.
struct ParsedArguments {
  Target target;
  std::vector<oci::Platform> platforms = {};
};
std::optional<ParsedArguments> ParseArguments(const std::string& target, const std::vector<std::string>& platforms);

// Prints the error and gives its code.
ExitCode Fail(std::string_view what, const Status& status);

}  // namespace soci::cli
