#include <fmt/format.h>

#include <cstdio>

#include "indexer/cli/commands.h"
#include "indexer/cli/format.h"
#include "indexer/cli/index_report.h"
#include "indexer/cli/session.h"
#include "indexer/index/list_indexes.h"

namespace soci::cli {
namespace {

Result<std::vector<ListedIndex>> ListAll(ImageHome& home, const SelectedImages& selected) {
  std::vector<ListedIndex> listed;
  for (const PlatformImage& image : selected.images) {
    Result<std::vector<SociIndex>> indexes = ListIndexes(home, image, kDocumentContext);
    if (!indexes.ok()) return Annotate(indexes.status(), image.platform.ToString());
    for (SociIndex& index : *indexes) listed.push_back({image.platform, image.descriptor.digest, std::move(index)});
  }
  return listed;
}

}  // namespace

ExitCode List(const ListArguments& arguments) {
  const auto parsed = ParseArguments(arguments.target, arguments.platforms);
  if (!parsed) return ExitCode::kUsage;
  Connection connection(arguments.connection);
  Result<std::unique_ptr<ImageHome>> home = connection.Open(parsed->target);
  if (!home.ok()) return Fail(arguments.target, home.status());
  Result<SelectedImages> selected = SelectPlatforms(**home, parsed->platforms, kDocumentContext);
  if (!selected.ok()) return Fail(arguments.target, selected.status());
  Result<std::vector<ListedIndex>> listed = ListAll(**home, *selected);
  if (!listed.ok()) return Fail(arguments.target, listed.status());
  std::fputs((arguments.json ? ListJson(*listed) : ListTable(*listed)).c_str(), stdout);
  if (listed->empty()) return Fail(arguments.target, absl::NotFoundError("the image has no SOCI index"));
  return ExitCode::kDone;
}

}  // namespace soci::cli
