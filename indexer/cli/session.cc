#include "indexer/cli/session.h"

#include "indexer/oci/platform.h"

namespace soci::cli {

std::optional<ParsedArguments> ParseArguments(const std::string& target, const std::vector<std::string>& platforms) {
  ParsedArguments parsed;
  Result<Target> named = ParseTarget(target);
  if (!named.ok()) {
    PrintError("", named.status());
    return std::nullopt;
  }
  parsed.target = *std::move(named);
  for (const std::string& text : platforms) {
    Result<oci::Platform> platform = oci::ParsePlatform(text);
    if (!platform.ok()) {
      PrintError("--platform", platform.status());
      return std::nullopt;
    }
    parsed.platforms.push_back(*std::move(platform));
  }
  return parsed;
}

ExitCode Fail(std::string_view what, const Status& status) {
  PrintError(what, status);
  return ExitCodeOf(status);
}

}  // namespace soci::cli
