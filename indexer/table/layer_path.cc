#include "indexer/table/layer_path.h"

#include <fmt/format.h>

namespace soci::table {

Result<std::vector<std::string_view>> CleanPath(std::string_view path) {
  if (path.size() > kMaxPathLength) {
    return absl::InvalidArgumentError(fmt::format("a path of {} bytes is longer than the kernel allows", path.size()));
  }
  if (path.find('\0') != std::string_view::npos) return absl::InvalidArgumentError("a path has a NUL in it");
  std::vector<std::string_view> components;
  while (!path.empty()) {
    const size_t slash = path.find('/');
    const std::string_view component = path.substr(0, slash);
    path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
    if (component.empty() || component == ".") continue;
    if (component == "..") {
      if (!components.empty()) components.pop_back();
      continue;
    }
    if (component.size() > kMaxNameLength) {
      return absl::InvalidArgumentError(fmt::format("a name of {} bytes is longer than the kernel allows",  //
                                                    component.size()));
    }
    components.push_back(component);
  }
  return components;
}

}  // namespace soci::table
