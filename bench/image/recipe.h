// What a made image is like: a few numbers, from which its tree, its files and the trace of its import all follow.
//
// Pure. S, M, L and XL are known by name; a scaled recipe is a small image of the same kind. The image carries its
// recipe as text, so that the program in it knows what it should find.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace soci::bench {

struct ImageRecipe {
  std::string name;
  uint64_t seed = 1;
  uint64_t bytes = 0;   // of all files
  uint64_t files = 0;   // regular ones, about
  uint64_t layers = 0;  // at least kLeastLayers
  uint64_t dominant_percent = 55;

  bool operator==(const ImageRecipe&) const = default;
};

inline constexpr uint64_t kLeastLayers = 7;
inline constexpr uint64_t kMostLayers = 120;

std::optional<ImageRecipe> KnownRecipe(std::string_view name);

// "" if an image can be made of it, or else why not.
std::string WhatIsWrong(const ImageRecipe& recipe);

// The same kind of image with that share of the bytes and files.
ImageRecipe Scaled(ImageRecipe recipe, double share);

// Its number of that name; null if there is none.
uint64_t* NumberOf(ImageRecipe& recipe, std::string_view key);

// Lines "key value".
std::string ToText(const ImageRecipe& recipe);
std::optional<ImageRecipe> RecipeFromText(std::string_view text);

// Where the image carries what its program needs.
inline constexpr char kProgramPath[] = "bench/soci-work";
inline constexpr char kRecipePath[] = "bench/recipe";
inline constexpr char kTracePath[] = "bench/import.trace";

}  // namespace soci::bench
