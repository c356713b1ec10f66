// The image that the program runs in: its recipe, and the tree that follows from it. Throws std::runtime_error.
#pragma once

#include <string>
#include <vector>

#include "bench/image/recipe.h"
#include "bench/image/tree.h"
#include "bench/work/checked_file.h"

namespace soci::bench {

std::string ReadWhole(const std::string& path);
// In this folder.
ImageRecipe ReadRecipe(const std::string& folder);
// What a container sees of it, without the program's own folder.
std::vector<TreeEntry> ExpectedTree(const ImageRoot& root);
// Only regular files with such an ending (empty: all), in the tree's order.
std::vector<TreeEntry> ExpectedFiles(const ImageRoot& root, const std::string& ending);

}  // namespace soci::bench
