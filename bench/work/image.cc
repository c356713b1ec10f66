#include "bench/work/image.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace soci::bench {

std::string ReadWhole(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) FailWithErrno(path, "cannot be opened");
  std::string text;
  std::array<char, 64 << 10> piece;
  ssize_t count = 0;
  while ((count = ::read(fd, piece.data(), piece.size())) > 0) text.append(piece.data(), static_cast<size_t>(count));
  ::close(fd);
  if (count < 0) FailWithErrno(path, "cannot be read");
  return text;
}

ImageRecipe ReadRecipe(const std::string& folder) {
  const std::string path = folder + kRecipePath;
  const auto recipe = RecipeFromText(ReadWhole(path));
  if (!recipe) Fail(path, "is no recipe");
  return *recipe;
}

std::vector<TreeEntry> ExpectedTree(const ImageRoot& root) { return MergedTree(PlanLayers(ReadRecipe(root.folder))); }

std::vector<TreeEntry> ExpectedFiles(const ImageRoot& root, const std::string& ending) {
  std::vector<TreeEntry> tree = ExpectedTree(root);
  const auto other = [&](const TreeEntry& entry) {
    if (entry.type != TreeEntry::Type::kFile) return true;
    const size_t size = entry.path.size();
    return size < ending.size() || entry.path.compare(size - ending.size(), ending.size(), ending) != 0;
  };
  tree.erase(std::remove_if(tree.begin(), tree.end(), other), tree.end());
  return tree;
}

}  // namespace soci::bench
