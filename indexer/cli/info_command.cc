#include <cstdio>

#include "indexer/cli/commands.h"
#include "indexer/cli/index_report.h"
#include "indexer/cli/session.h"
#include "indexer/index/list_indexes.h"

namespace soci::cli {
namespace {

// The target that "DIGEST --at REF" or "REF@DIGEST" or "REF" means.
std::optional<Target> TargetOf(const InfoArguments& arguments) {
  Result<oci::Digest> bare = oci::Digest::Parse(arguments.target);
  if (!bare.ok()) {
    const auto parsed = ParseArguments(arguments.target, {});
    return parsed ? std::optional(parsed->target) : std::nullopt;
  }
  if (arguments.at.empty()) {
    PrintError(arguments.target, absl::InvalidArgumentError("say where it is: REF@DIGEST, or DIGEST --at REF"));
    return std::nullopt;
  }
  auto parsed = ParseArguments(arguments.at, {});
  if (!parsed) return std::nullopt;
  parsed->target.digest = *bare;
  parsed->target.reference.digest = *bare;
  return parsed->target;
}

// The index that is named, or all indexes of the image that is named.
Result<std::vector<SociIndex>> Indexes(ImageHome& home, const Target& target) {
  if (target.digest) {
    Result<SociIndex> named = ReadIndex(home, *target.digest, FoundBy::kNamedDigest, kDocumentContext);
    if (named.ok()) return std::vector{*std::move(named)};
    if (!absl::IsInvalidArgument(named.status())) return named.status();
  }
  SOCI_ASSIGN_OR_RETURN(SelectedImages selected, SelectPlatforms(home, {}, kDocumentContext));
  std::vector<SociIndex> indexes;
  for (const PlatformImage& image : selected.images) {
    SOCI_ASSIGN_OR_RETURN(std::vector<SociIndex> of_image, ListIndexes(home, image, kDocumentContext));
    for (SociIndex& index : of_image) indexes.push_back(std::move(index));
  }
  if (indexes.empty()) return absl::NotFoundError("the image has no SOCI index");
  return indexes;
}

}  // namespace

ExitCode Info(const InfoArguments& arguments) {
  const std::optional<Target> target = TargetOf(arguments);
  if (!target) return ExitCode::kUsage;
  Connection connection(arguments.connection);
  Result<std::unique_ptr<ImageHome>> home = connection.Open(*target);
  if (!home.ok()) return Fail(arguments.target, home.status());
  Result<std::vector<SociIndex>> indexes = Indexes(**home, *target);
  if (!indexes.ok()) return Fail(arguments.target, indexes.status());
  std::string text;
  for (const SociIndex& index : *indexes) {
    if (!text.empty()) text += arguments.json ? "," : "\n";
    text += arguments.json ? InfoJson(index) : InfoText(index);
  }
  if (arguments.json) text = "[" + text + "]\n";
  std::fputs(text.c_str(), stdout);
  return ExitCode::kDone;
}

}  // namespace soci::cli
