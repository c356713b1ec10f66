#include "snapshotter/replay/file_paths.h"

#include <sys/stat.h>

#include <utility>
#include <vector>

namespace soci {

std::map<InodeId, std::string> PathsOf(const LayerTable& table, const std::set<InodeId>& files) {
  std::map<InodeId, std::string> paths;
  std::vector<std::pair<InodeId, std::string>> folders = {{InodeId::kRoot, ""}};
  while (!folders.empty() && paths.size() < files.size()) {
    const auto [folder, prefix] = std::move(folders.back());
    folders.pop_back();
    for (uint64_t rank = 0; rank < table.ChildCount(folder); ++rank) {
      const DirectoryChild child = table.Child(folder, rank);
      const auto attributes = table.Attributes(child.inode);
      if (!attributes) continue;
      if (S_ISDIR(attributes->mode)) {
        folders.emplace_back(child.inode, prefix + std::string(child.name) + "/");
      } else if (files.count(child.inode) > 0) {
        paths.try_emplace(child.inode, prefix + std::string(child.name));
      }
    }
  }
  return paths;
}

std::optional<InodeAttributes> FindFile(const LayerTable& table, std::string_view path) {
  InodeId inode = InodeId::kRoot;
  while (true) {
    const auto attributes = table.Attributes(inode);
    if (!attributes) return std::nullopt;
    if (path.empty()) return S_ISREG(attributes->mode) ? attributes : std::nullopt;
    if (!S_ISDIR(attributes->mode)) return std::nullopt;
    const size_t slash = path.find('/');
    const auto next = table.Lookup(inode, path.substr(0, slash));
    if (!next) return std::nullopt;
    inode = *next;
    path = slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
  }
}

}  // namespace soci
