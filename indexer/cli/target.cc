#include "indexer/cli/target.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

namespace soci::cli {
namespace {

struct Prefix {
  std::string_view text;
  Target::Kind kind;
};
constexpr Prefix kPrefixes[] = {{"oci:", Target::Kind::kLayout},
                                {"oci-archive:", Target::Kind::kOciArchive},
                                {"docker-archive:", Target::Kind::kDockerArchive}};

bool Exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

// Where PATH ends in "PATH[:TAG]".
size_t EndOfPath(const std::string& text) {
  for (size_t end = text.size(); end != std::string::npos && end != 0; end = text.rfind(':', end - 1)) {
    if (Exists(text.substr(0, end))) return end;
  }
  const size_t colon = text.rfind(':');
  const bool tag = colon != std::string::npos && text.find('/', colon) == std::string::npos;
  return tag ? colon : text.size();
}

}  // namespace

Result<Target> ParseTarget(std::string_view text) {
  Target target{.text = std::string(text)};
  for (const Prefix& prefix : kPrefixes) {
    if (!text.starts_with(prefix.text)) continue;
    target.kind = prefix.kind;
    text.remove_prefix(prefix.text.size());
    break;
  }
  if (target.kind == Target::Kind::kRegistry) {
    SOCI_ASSIGN_OR_RETURN(target.reference, oci::Reference::Parse(text));
    target.digest = target.reference.digest;
    return target;
  }
  std::string rest(text);
  if (const size_t at = rest.rfind("@sha256:"); at != std::string::npos) {
    SOCI_ASSIGN_OR_RETURN(target.digest, oci::Digest::Parse(std::string_view(rest).substr(at + 1)));
    rest.resize(at);
  }
  const size_t end = EndOfPath(rest);
  target.path = rest.substr(0, end);
  if (end < rest.size()) target.tag = rest.substr(end + 1);
  if (target.path.empty())
    return absl::InvalidArgumentError(fmt::format("\"{}\" names no file or directory", target.text));
  return target;
}

}  // namespace soci::cli
