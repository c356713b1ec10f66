#include "snapshotter/pull/list_folder.h"

#include <dirent.h>

#include <algorithm>

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

}  // namespace soci
