#include "indexer/cli/target.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

namespace soci::cli {
namespace {

constexpr std::string_view kLayoutPrefix = "oci:";

bool IsDirectory(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored);
}

// Where DIR ends in "DIR[:TAG]".
size_t EndOfDirectory(const std::string& text) {
  for (size_t end = text.size(); end != std::string::npos && end != 0; end = text.rfind(':', end - 1)) {
    if (IsDirectory(text.substr(0, end))) return end;
  }
  const size_t colon = text.rfind(':');
  const bool tag = colon != std::string::npos && text.find('/', colon) == std::string::npos;
  return tag ? colon : text.size();
}

}  // namespace

Result<Target> ParseTarget(std::string_view text) {
  Target target{.text = std::string(text), .directory = {}, .tag = {}};
  if (!text.starts_with(kLayoutPrefix)) {
    SOCI_ASSIGN_OR_RETURN(target.reference, oci::Reference::Parse(text));
    target.digest = target.reference.digest;
    return target;
  }
  std::string rest(text.substr(kLayoutPrefix.size()));
  if (const size_t at = rest.rfind("@sha256:"); at != std::string::npos) {
    SOCI_ASSIGN_OR_RETURN(target.digest, oci::Digest::Parse(std::string_view(rest).substr(at + 1)));
    rest.resize(at);
  }
  const size_t end = EndOfDirectory(rest);
  target.directory = rest.substr(0, end);
  if (end < rest.size()) target.tag = rest.substr(end + 1);
  if (target.directory.empty()) return absl::InvalidArgumentError(fmt::format("\"{}\" names no directory", text));
  return target;
}

}  // namespace soci::cli
