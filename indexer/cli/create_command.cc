#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <utility>

#include "indexer/cli/commands.h"
#include "indexer/cli/create_report.h"
#include "indexer/cli/progress.h"
#include "indexer/cli/record_file.h"
#include "indexer/cli/session.h"
#include "indexer/index/image_indexer.h"
#include "indexer/index/ztoc_cache.h"

namespace soci::cli {
namespace {

CreateOptions OptionsOf(const CreateArguments& arguments, std::optional<Record> prefetch) {
  CreateOptions options;
  options.span_size = arguments.span_size;
  options.min_layer_size = arguments.min_layer_size;
  options.threads = arguments.jobs;
  options.verify = arguments.verify;
  for (const std::string& path : arguments.prefetch_files) options.prefetch_paths.push_back(CleanPath(path));
  options.prefetch_record = std::move(prefetch);
  const auto& optimizations = arguments.optimizations;
  options.mark_layers_without_xattrs =
      std::find(optimizations.begin(), optimizations.end(), "xattr") != optimizations.end();
  return options;
}

// Each platform has an index of its own: "soci-linux-arm64".
std::string TagFor(const std::string& tag, const oci::Platform& platform) {
  std::string name = tag + "-" + platform.ToString();
  std::replace(name.begin(), name.end(), '/', '-');
  return name;
}

// What is wrong with the tag that was asked for; "" if nothing.
std::string TagProblem(const std::string& tag, const Target& target) {
  if (tag.empty()) return "";
  if (target.kind != Target::Kind::kRegistry) return "only in a registry: elsewhere what has no tag is kept";
  if (!oci::Reference::Parse("registry.example/image:" + tag).ok()) return "not a tag";
  return tag == target.reference.tag ? "this is the image's own tag" : "";
}

// One image after the other; the layers of each side by side.
Result<CreateReport> IndexAll(ImageHome& home, SelectedImages selected, const CreateArguments& arguments,
                              std::optional<Record> prefetch) {
  const ProgressStyle style = arguments.quiet ? ProgressStyle::kSkipsOnly : StyleForStandardError();
  const std::unique_ptr<LayerProgress> progress = MakeProgress(style, LayerTask::kIndexing);
  std::unique_ptr<ZtocCache> cache;
  if (!arguments.cache.empty()) {
    SOCI_ASSIGN_OR_RETURN(cache, ZtocCache::Open(arguments.cache));
  }
  CreateOptions options = OptionsOf(arguments, std::move(prefetch));
  if (!arguments.index_tag.empty()) {
    options.index_tag = [&, several = selected.images.size() > 1](const oci::Platform& platform) {
      return several ? TagFor(arguments.index_tag, platform) : arguments.index_tag;
    };
  }
  ImageIndexer indexer(home, std::move(options), *progress, cache.get());
  CreateReport report{.target = home.Name(), .images = {}, .absent = std::move(selected.absent)};
  for (const PlatformImage& image : selected.images) {
    Result<ImageReport> one = indexer.Index(image, kLayerContext);
    if (!one.ok()) return Annotate(one.status(), image.platform.ToString());
    report.images.push_back(*std::move(one));
  }
  SOCI_RETURN_IF_ERROR(home.Commit());
  return report;
}

}  // namespace

ExitCode Create(const CreateArguments& arguments) {
  const auto parsed = ParseArguments(arguments.target, arguments.platforms);
  if (!parsed) return ExitCode::kUsage;
  if (arguments.all_platforms && !arguments.platforms.empty()) {
    PrintError("--all-platforms", absl::InvalidArgumentError("not together with --platform"));
    return ExitCode::kUsage;
  }
  if (!arguments.output.empty() && !parsed->target.IsArchive()) {
    PrintError("--output", absl::InvalidArgumentError("only an archive is written to another file"));
    return ExitCode::kUsage;
  }
  if (std::string problem = TagProblem(arguments.index_tag, parsed->target); !problem.empty()) {
    PrintError("--tag-index", absl::InvalidArgumentError(problem));
    return ExitCode::kUsage;
  }
  std::optional<Record> prefetch;
  if (!arguments.prefetch_from.empty()) {
    Result<Record> record = ReadRecordFile(arguments.prefetch_from);
    if (!record.ok()) return Fail(arguments.prefetch_from, record.status());
    prefetch = *std::move(record);
  }
  Connection connection(arguments.connection);
  Result<std::unique_ptr<ImageHome>> home = connection.Open(parsed->target, arguments.output);
  if (!home.ok()) return Fail(arguments.target, home.status());
  Result<SelectedImages> selected = SelectPlatforms(**home, parsed->platforms, kDocumentContext);
  if (!selected.ok()) return Fail(arguments.target, selected.status());
  Result<CreateReport> report = IndexAll(**home, *std::move(selected), arguments, std::move(prefetch));
  if (!report.ok()) return Fail(arguments.target, report.status());
  std::fputs(Remarks(*report).c_str(), stderr);
  const bool any_prefetch = std::any_of(report->images.begin(), report->images.end(),
                                        [](const ImageReport& image) { return image.prefetch_spans > 0; });
  if (!arguments.prefetch_from.empty() && !any_prefetch) {
    fmt::print(stderr, "{}: nothing of it is in an indexed layer\n", arguments.prefetch_from);
  }
  std::fputs((arguments.json ? ToJson(*report) : DigestLines(*report)).c_str(), stdout);
  const ExitCode code = CodeOf(*report);
  const bool partial = code == ExitCode::kPartDone || code == ExitCode::kNothingToIndex;
  return partial && arguments.allow_partial ? ExitCode::kDone : code;
}

}  // namespace soci::cli
