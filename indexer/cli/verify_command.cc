#include <fmt/format.h>

#include <cstdio>

#include "indexer/cli/commands.h"
#include "indexer/cli/progress.h"
#include "indexer/cli/session.h"
#include "indexer/cli/verify_report.h"
#include "indexer/index/list_indexes.h"

namespace soci::cli {
namespace {

// The index to be verified: the one that is named, else the one that would be taken.
Result<SociIndex> Choose(ImageHome& home, const PlatformImage& image, const std::optional<oci::Digest>& named) {
  if (named) return ReadIndex(home, *named, FoundBy::kNamedDigest, kDocumentContext);
  SOCI_ASSIGN_OR_RETURN(std::vector<SociIndex> indexes, ListIndexes(home, image, kDocumentContext));
  if (indexes.empty()) return absl::NotFoundError("the image has no SOCI index");
  return std::move(indexes.front());
}

Result<std::vector<VerifiedIndex>> VerifyAll(ImageHome& home, const SelectedImages& selected,
                                             const std::optional<oci::Digest>& named,
                                             const VerifyArguments& arguments) {
  const ProgressStyle style = arguments.quiet ? ProgressStyle::kSkipsOnly : StyleForStandardError();
  const std::unique_ptr<LayerProgress> progress = MakeProgress(style, LayerTask::kVerifying);
  std::vector<VerifiedIndex> verified;
  for (const PlatformImage& image : selected.images) {
    auto verify = [&]() -> Result<VerifiedIndex> {
      SOCI_ASSIGN_OR_RETURN(const SociIndex index, Choose(home, image, named));
      SOCI_ASSIGN_OR_RETURN(IndexVerdict verdict,
                            VerifyIndex(home, image, index, arguments.jobs, *progress, kLayerContext));
      return VerifiedIndex{image.platform, index.digest, std::move(verdict)};
    };
    Result<VerifiedIndex> one = verify();
    if (!one.ok()) return Annotate(one.status(), image.platform.ToString());
    verified.push_back(*std::move(one));
  }
  return verified;
}

}  // namespace

ExitCode Verify(const VerifyArguments& arguments) {
  const auto parsed = ParseArguments(arguments.target, arguments.platforms);
  if (!parsed) return ExitCode::kUsage;
  std::optional<oci::Digest> named;
  if (!arguments.index.empty()) {
    Result<oci::Digest> digest = oci::Digest::Parse(arguments.index);
    if (!digest.ok()) {
      PrintError("--index", digest.status());
      return ExitCode::kUsage;
    }
    named = *digest;
  }
  Connection connection(arguments.connection);
  Result<std::unique_ptr<ImageHome>> home = connection.Open(parsed->target);
  if (!home.ok()) return Fail(arguments.target, home.status());
  Result<SelectedImages> selected = SelectPlatforms(**home, parsed->platforms, kDocumentContext);
  if (!selected.ok()) return Fail(arguments.target, selected.status());
  Result<std::vector<VerifiedIndex>> verified = VerifyAll(**home, *selected, named, arguments);
  if (!verified.ok()) return Fail(arguments.target, verified.status());
  std::fputs((arguments.json ? VerdictJson(*verified) : VerdictLines(*verified)).c_str(), stdout);
  return AllRight(*verified) ? ExitCode::kDone : ExitCode::kBadData;
}

}  // namespace soci::cli
