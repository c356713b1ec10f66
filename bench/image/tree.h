// The files of a made image, layer by layer, and the tree that a container sees of them. Pure: they follow from the
// recipe.
//
// Layers, lowest first: a base, packages, one layer with most of the bytes (large libraries), more packages, a model, a
// data set, a clean-up (whiteouts and replaced files), and at the top the program with its trace, whose entries are not
// here. Each layer describes every folder it writes to, as builders do.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/image/recipe.h"

namespace soci::bench {

struct TreeEntry {
  enum class Type : uint8_t { kFile, kDirectory, kSymlink, kHardLink, kWhiteout, kOpaque };

  Type type = Type::kFile;
  std::string path;         // without a slash before it
  std::string target = {};  // of links: a path within the folder, or the full path of the first name
  uint64_t size = 0;
  bool executable = false;
  bool has_xattr = false;  // kXattrName with the path as value
};

inline constexpr char kXattrName[] = "user.origin";

struct PlannedLayer {
  std::string name;
  std::vector<TreeEntry> entries;

  uint64_t bytes() const;
};

std::vector<PlannedLayer> PlanLayers(const ImageRecipe& recipe);

// What is left when the layers lie above each other, the highest layer's entries first. No whiteouts.
std::vector<TreeEntry> MergedTree(const std::vector<PlannedLayer>& layers);

}  // namespace soci::bench
