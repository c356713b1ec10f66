#include "bench/image/tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

namespace soci::bench {
namespace {

using Type = TreeEntry::Type;

std::map<Type, uint64_t> Count(const std::vector<PlannedLayer>& layers) {
  std::map<Type, uint64_t> counts;
  for (const PlannedLayer& layer : layers) {
    for (const TreeEntry& entry : layer.entries) ++counts[entry.type];
  }
  return counts;
}

class KnownImages : public ::testing::TestWithParam<const char*> {};

TEST_P(KnownImages, AreOfTheShapeThatTrainingImagesHave) {
  const ImageRecipe recipe = *KnownRecipe(GetParam());
  const std::vector<PlannedLayer> layers = PlanLayers(recipe);
  EXPECT_EQ(layers.size() + 1, recipe.layers) << "and one with the program";
  EXPECT_GE(recipe.layers, 20u);
  EXPECT_LE(recipe.layers, 40u);
  uint64_t bytes = 0, dominant = 0;
  for (const PlannedLayer& layer : layers) {
    bytes += layer.bytes();
    dominant = std::max(dominant, layer.bytes());
  }
  EXPECT_NEAR(static_cast<double>(bytes), static_cast<double>(recipe.bytes), static_cast<double>(recipe.bytes) / 50);
  EXPECT_GT(dominant, bytes / 2);
  auto counts = Count(layers);
  EXPECT_GE(counts[Type::kFile], 60'000u);
  EXPECT_LE(counts[Type::kFile], 200'000u);
  EXPECT_NEAR(static_cast<double>(counts[Type::kFile]), static_cast<double>(recipe.files),
              static_cast<double>(recipe.files) / 50);
  EXPECT_GT(counts[Type::kSymlink], 200u);
  EXPECT_GT(counts[Type::kHardLink], 50u);
  EXPECT_GT(counts[Type::kWhiteout], 10u);
  EXPECT_EQ(counts[Type::kOpaque], 1u);
}

INSTANTIATE_TEST_SUITE_P(Recipes, KnownImages, ::testing::Values("S", "M", "L", "XL"));

TEST(PlanLayers, FollowsFromTheRecipeAlone) {
  const ImageRecipe recipe = Scaled(*KnownRecipe("S"), 0.02);
  ImageRecipe other = recipe;
  other.seed = 2;
  const auto paths = [](const ImageRecipe& of) {
    std::vector<std::pair<std::string, uint64_t>> found;
    for (const PlannedLayer& layer : PlanLayers(of)) {
      for (const TreeEntry& entry : layer.entries) found.emplace_back(entry.path, entry.size);
    }
    return found;
  };
  EXPECT_EQ(paths(recipe), paths(recipe));
  EXPECT_NE(paths(recipe), paths(other));
}

TEST(PlanLayers, EveryLayerDescribesTheFoldersItWritesTo) {
  for (const PlannedLayer& layer : PlanLayers(Scaled(*KnownRecipe("S"), 0.05))) {
    std::set<std::string> folders, names;
    for (const TreeEntry& entry : layer.entries) {
      const size_t slash = entry.path.rfind('/');
      if (slash != std::string::npos) {
        EXPECT_TRUE(folders.count(entry.path.substr(0, slash))) << layer.name << " " << entry.path;
      }
      if (entry.type == Type::kDirectory) folders.insert(entry.path);
      if (entry.type == Type::kHardLink) {
        EXPECT_TRUE(names.count(entry.target)) << entry.target;
      }
      EXPECT_TRUE(names.insert(entry.path).second || entry.type == Type::kOpaque) << entry.path << " is there twice";
    }
  }
}

TEST(MergedTree, HidesWhatIsDeletedAndTakesTheHighestOfARepeatedPath) {
  const std::vector<PlannedLayer> layers = {{"low",
                                             {{Type::kDirectory, "a"},
                                              {Type::kFile, "a/deleted", {}, 1},
                                              {Type::kFile, "a/replaced", {}, 1},
                                              {Type::kFile, "a/kept", {}, 1},
                                              {Type::kDirectory, "b"},
                                              {Type::kFile, "b/hidden", {}, 1}}},
                                            {"high",
                                             {{Type::kDirectory, "a"},
                                              {Type::kWhiteout, "a/deleted"},
                                              {Type::kFile, "a/replaced", {}, 2},
                                              {Type::kDirectory, "b"},
                                              {Type::kOpaque, "b"},
                                              {Type::kFile, "b/new", {}, 3}}}};
  std::map<std::string, uint64_t> sizes;
  for (const TreeEntry& entry : MergedTree(layers)) sizes[entry.path] = entry.size;
  EXPECT_THAT(sizes, ::testing::ElementsAre(::testing::Pair("a", 0), ::testing::Pair("a/kept", 1),
                                            ::testing::Pair("a/replaced", 2), ::testing::Pair("b", 0),
                                            ::testing::Pair("b/new", 3)));
}

TEST(ImageRecipe, IsTheSameAfterBeingWrittenAndRead) {
  for (const char* name : {"S", "M", "L", "XL"}) {
    const ImageRecipe recipe = *KnownRecipe(name);
    EXPECT_EQ(RecipeFromText(ToText(recipe)), recipe);
    EXPECT_EQ(WhatIsWrong(recipe), "");
    EXPECT_EQ(WhatIsWrong(Scaled(recipe, 0.0001)), "");
  }
}

TEST(ImageRecipe, NonsenseIsNone) {
  EXPECT_EQ(KnownRecipe("XXL"), std::nullopt);
  const std::string right = ToText(*KnownRecipe("S"));
  for (const std::string& wrong : {std::string(), right + "speed 7\n", right + "files many\n", right + "files 12x\n",
                                   right + "layers 3\n", right + "bytes 99999999999999999999\n", right + "files\n"}) {
    EXPECT_EQ(RecipeFromText(wrong), std::nullopt) << wrong;
  }
}

}  // namespace
}  // namespace soci::bench
