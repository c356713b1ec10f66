#include "bench/image/recipe.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace soci::bench {
namespace {

constexpr uint64_t kMegabyte = 1'000'000;

std::array<std::pair<std::string_view, uint64_t ImageRecipe::*>, 5> Numbers() {
  return {{{"seed", &ImageRecipe::seed},
           {"bytes", &ImageRecipe::bytes},
           {"files", &ImageRecipe::files},
           {"layers", &ImageRecipe::layers},
           {"dominant_percent", &ImageRecipe::dominant_percent}}};
}

}  // namespace

std::optional<ImageRecipe> KnownRecipe(std::string_view name) {
  if (name == "S") return ImageRecipe{"S", 1, 1800 * kMegabyte, 62'000, 24};
  if (name == "M") return ImageRecipe{"M", 1, 6000 * kMegabyte, 110'000, 28};
  if (name == "L") return ImageRecipe{"L", 1, 13'000 * kMegabyte, 190'000, 32};
  if (name == "XL") return ImageRecipe{"XL", 1, 35'000 * kMegabyte, 199'000, 36};
  return std::nullopt;
}

std::string WhatIsWrong(const ImageRecipe& recipe) {
  if (recipe.layers < kLeastLayers || recipe.layers > kMostLayers) return "layers is from 7 to 120";
  if (recipe.bytes < kMegabyte || recipe.bytes > kMegabyte * kMegabyte) return "bytes is from a million to 10^12";
  if (recipe.files < 20 || recipe.files > 10 * kMegabyte) return "files is from 20 to ten million";
  if (recipe.dominant_percent < 1 || recipe.dominant_percent > 70) return "dominant_percent is from 1 to 70";
  return "";
}

ImageRecipe Scaled(ImageRecipe recipe, double share) {
  const auto scaled = [share](uint64_t value) { return static_cast<uint64_t>(static_cast<double>(value) * share); };
  recipe.bytes = std::max<uint64_t>(scaled(recipe.bytes), kMegabyte);
  recipe.files = std::max<uint64_t>(scaled(recipe.files), 200);
  return recipe;
}

uint64_t* NumberOf(ImageRecipe& recipe, std::string_view key) {
  for (const auto& [name, member] : Numbers()) {
    if (name == key) return &(recipe.*member);
  }
  return nullptr;
}

std::string ToText(const ImageRecipe& recipe) {
  std::string text = "name " + recipe.name + "\n";
  for (const auto& [key, member] : Numbers()) text += std::string(key) + " " + std::to_string(recipe.*member) + "\n";
  return text;
}

std::optional<ImageRecipe> RecipeFromText(std::string_view text) {
  ImageRecipe recipe;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const size_t space = line.find(' ');
    if (space == std::string_view::npos) return std::nullopt;
    const std::string_view key = line.substr(0, space), value = line.substr(space + 1);
    if (key == "name") {
      recipe.name = value;
      continue;
    }
    uint64_t* const number = NumberOf(recipe, key);
    if (number == nullptr) return std::nullopt;
    const auto parsed = std::from_chars(value.data(), value.data() + value.size(), *number);
    if (parsed.ec != std::errc() || parsed.ptr != value.data() + value.size()) return std::nullopt;
  }
  if (!WhatIsWrong(recipe).empty()) return std::nullopt;
  return recipe;
}

}  // namespace soci::bench
