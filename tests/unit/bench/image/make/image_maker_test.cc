#include "bench/image/make/image_maker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>

#include "indexer/base/file_io.h"
#include "tests/support/temporary_directory.h"

namespace soci::bench {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ImageMaker : public ::testing::Test {
 protected:
  ImageMaker() { WriteProgram("program"); }

  void WriteProgram(const std::string& text) { std::ofstream(options_.program = folder_ / "soci-work") << text; }
  std::vector<WrittenLayer> Make(const std::string& name, const ImageRecipe& recipe, size_t threads = 2) {
    options_.threads = threads;
    return MakeImage(recipe, folder_ / name, options_);
  }
  std::string Read(const std::string& name) const { return *ReadFile(folder_ / name); }

  test::TemporaryDirectory folder_;
  MakeOptions options_;
  const ImageRecipe small_ = Scaled(*KnownRecipe("S"), 0.01);
};

std::vector<std::string> Digests(const std::vector<WrittenLayer>& layers) {
  std::vector<std::string> digests;
  for (const WrittenLayer& layer : layers) digests.push_back(layer.digest.Hex());
  return digests;
}

std::string Gunzip(const std::string& path) {
  const gzFile file = gzopen(path.c_str(), "rb");
  std::string out, piece(1 << 20, '\0');
  for (int count = 0; (count = gzread(file, piece.data(), static_cast<unsigned>(piece.size()))) > 0;) {
    out.append(piece, 0, static_cast<size_t>(count));
  }
  gzclose(file);
  return out;
}

TEST_F(ImageMaker, TheSameRecipeGivesTheSameDigestsHoweverManyThreads) {
  const auto one = Make("one", small_, 1), four = Make("four", small_, 4);
  ASSERT_EQ(one.size(), small_.layers);
  EXPECT_EQ(Digests(one), Digests(four));
  ImageRecipe other = small_;
  other.seed = 2;
  EXPECT_NE(Digests(Make("other", other))[0], Digests(one)[0]);
}

// If this fails, images differ from those that others have measured: give the format a new number, and say so in the
// changelog. The stored layers' digests are libdeflate's word too, so only the tars' are kept here.
TEST_F(ImageMaker, TheDigestsAreWhatTheyAlwaysWere) {
  const auto layers = Make("image", small_);
  ASSERT_EQ(layers.size(), 24u);
  EXPECT_EQ(layers[0].diff_id.Hex(), "6ffe82657dc989f63f0a052e8c4e6b3a1203ac58b3ec5fc5278061fd445fb84e");
  EXPECT_EQ(layers[10].diff_id.Hex(), "f5e1cb7edd8dfcb80b28667d1560380f987c15f9de8eda4ec416e04764ae98b3");
  EXPECT_EQ(layers[21].diff_id.Hex(), "10bec8b1bf63898b7d3297e32292c46bc5967848cb5f6aa318e1644bfaf708ff");
  EXPECT_EQ(layers[22].diff_id.Hex(), "ea4c70421554dbef9fa6d5c5cacc0f74645e7e3ffdf50d48b565d79deb0aad88");
}

TEST_F(ImageMaker, TheProgramIsInTheLastLayerAlone) {
  const auto before = Make("before", small_);
  WriteProgram("another");
  const auto after = Make("after", small_);
  for (size_t i = 0; i + 1 < before.size(); ++i) EXPECT_EQ(before[i].digest, after[i].digest);
  EXPECT_NE(before.back().digest, after.back().digest);
}

TEST_F(ImageMaker, LayersAreGzipOfWhatTheirDiffIdSays) {
  const auto layers = Make("image", small_);
  std::string order;
  for (const WrittenLayer& layer : layers) {
    order += layer.name + "\n";
    const std::string tar = Gunzip(folder_ / "image/" + layer.name + ".tar.gz");
    EXPECT_EQ(tar.size(), layer.uncompressed_bytes);
    EXPECT_EQ(oci::Digest::Of(tar).ToString() + "\n", Read("image/" + layer.name + ".diff_id"));
    EXPECT_EQ(oci::Digest::Of(Read("image/" + layer.name + ".tar.gz")), layer.digest);
  }
  EXPECT_EQ(Read("image/LAYERS"), order);
}

TEST_F(ImageMaker, AnImageThatIsThereIsNotMadeAgain) {
  EXPECT_FALSE(Make("image", small_).empty());
  EXPECT_THAT(Make("image", small_), IsEmpty());
  WriteProgram("another");
  EXPECT_FALSE(Make("image", small_).empty());
  std::filesystem::remove(folder_ / "image/stamp");
  EXPECT_FALSE(Make("image", small_).empty()) << "the last call was killed";
}

TEST_F(ImageMaker, WhatGoesWrongIsSaid) {
  ImageRecipe wrong = small_;
  wrong.layers = 3;
  EXPECT_THROW(Make("image", wrong), std::runtime_error);
  std::ofstream(folder_ / "file") << "in the way";
  EXPECT_THROW(Make("file", small_), std::runtime_error);
  options_.program = folder_ / "none";
  EXPECT_THROW(Make("image", small_), std::runtime_error);
}

TEST_F(ImageMaker, RecipesComeByNameOrFromAFile) {
  EXPECT_EQ(FindRecipe("L")->bytes, 13'000'000'000u);
  const auto from = [&](const std::string& text) {
    std::ofstream(folder_ / "mine.toml") << text;
    return FindRecipe(folder_ / "mine.toml");
  };
  const auto mine = from("bytes = 50_000_000\nfiles = 2000\nlayers = 12\nseed = 9\n");
  ASSERT_TRUE(mine.ok()) << Message(mine.status());
  EXPECT_EQ(*mine, (ImageRecipe{"mine", 9, 50'000'000, 2000, 12, 55}));
  for (const auto& [text, what] : std::vector<std::pair<std::string, std::string>>{
           {"bytes = \"many\"", "bytes is no whole number"},
           {"bytes = -1", "bytes is no whole number"},
           {"speed = 1", "no recipe has a \"speed\""},
           {"bytes = 50_000_000\nfiles = 2000\nlayers = 2", "layers is from 7 to 120"},
           {"bytes =", "mine.toml"}}) {
    const auto recipe = from(text);
    ASSERT_FALSE(recipe.ok());
    EXPECT_THAT(std::string(Message(recipe.status())), HasSubstr(what));
  }
  EXPECT_FALSE(FindRecipe("XXL").ok());
}

}  // namespace
}  // namespace soci::bench
