// Makes an image from a recipe into a folder: its layers with LAYERS, their order, as layer_folder.h reads them, and a
// stamp, so that a second call with the same recipe and program finds the image there and returns.
//
// Layers are written in parallel, the largest first. All but the last, which carries the program, depend on the recipe
// alone. Throws std::runtime_error; what was begun is left without a stamp and replaced by the next call.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/image/make/layer_writer.h"
#include "bench/image/recipe.h"

namespace soci::bench {

struct MakeOptions {
  std::string program;  // soci-work
  size_t threads = 2;
  int level = 1;  // libdeflate's: gzip -6 makes about as much of it, and takes ten times as long
};

// The layers, lowest first; nothing if they are there already.
std::vector<WrittenLayer> MakeImage(const ImageRecipe& recipe, const std::string& folder, const MakeOptions& options);

// A recipe of that name, or from a file in TOML with the keys name, bytes, files, layers, dominant_percent, seed.
// kInvalidArgument, kNotFound.
Result<ImageRecipe> FindRecipe(const std::string& name_or_path);

}  // namespace soci::bench
