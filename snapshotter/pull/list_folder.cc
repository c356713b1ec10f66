#include "snapshotter/pull/list_folder.h"

#include <dirent.h>

#include <algorithm>
#include <charconv>

namespace soci {

std::vector<std::string> ListFolder(const std::string& folder) {
  std::vector<std::string> names;
  DIR* open = ::opendir(folder.c_str());
  if (open == nullptr) return names;
  while (const dirent* entry = ::readdir(open)) {
    std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(std::move(name));
  }
  ::closedir(open);
  std::sort(names.begin(), names.end());
  return names;
}

std::optional<uint32_t> NumberOf(const std::string& name) {
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return number;
}

}  // namespace soci
