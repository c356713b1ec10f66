#include "bench/cli/image_verb.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <thread>

#include "bench/image/make/image_maker.h"

namespace soci::bench {
namespace {

struct ImageOptions {
  std::string recipe, folder;
  uint64_t seed = 0;
  double scale = 1;
  size_t threads = 0;
};

void PrintLayers(const std::vector<WrittenLayer>& layers, double seconds) {
  uint64_t compressed = 0, uncompressed = 0;
  for (const WrittenLayer& layer : layers) {
    compressed += layer.compressed_bytes;
    uncompressed += layer.uncompressed_bytes;
    fmt::print("{:<14} {:>7.1f} MB of {:>7.1f} MB  {}\n", layer.name, static_cast<double>(layer.compressed_bytes) / 1e6,
               static_cast<double>(layer.uncompressed_bytes) / 1e6, layer.digest.ToString());
  }
  fmt::print("{} layers, {:.0f} MB compressed, {:.0f} MB unpacked, made in {:.1f} s\n", layers.size(),
             static_cast<double>(compressed) / 1e6, static_cast<double>(uncompressed) / 1e6, seconds);
}

int MakeVerb(const ImageOptions& options) {
  auto recipe = FindRecipe(options.recipe);
  if (!recipe.ok()) {
    fmt::print(stderr, "soci-bench: no recipe S, M, L or XL, and no file: {}\n", std::string(Message(recipe.status())));
    return 2;
  }
  if (options.seed != 0) recipe->seed = options.seed;
  MakeOptions make;
  make.program = std::filesystem::read_symlink("/proc/self/exe").parent_path().string() + "/soci-work";
  make.threads = options.threads != 0 ? options.threads : std::max(1u, std::thread::hardware_concurrency());
  try {
    const auto begin = std::chrono::steady_clock::now();
    const auto layers = MakeImage(options.scale == 1 ? *recipe : Scaled(*recipe, options.scale), options.folder, make);
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
    if (layers.empty()) {
      fmt::print("{} has that image already\n", options.folder);
    } else {
      PrintLayers(layers, time.count());
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "soci-bench: {}\n", error.what());
    return 1;
  }
  return 0;
}

}  // namespace

void AddImageVerbs(CLI::App& app, int& exit_code) {
  CLI::App* image = app.add_subcommand("image", "images to measure with");
  image->require_subcommand(1);
  CLI::App* verb = image->add_subcommand("make", "make an image from a recipe, the same on every machine");
  auto options = std::make_shared<ImageOptions>();
  verb->add_option("RECIPE", options->recipe, "S (1.8 GB unpacked), M (6), L (13), XL (35), or a file in TOML")
      ->required();
  verb->add_option("--out", options->folder, "Folder for the layers, as `run --layers` takes it")->required();
  verb->add_option("--seed", options->seed, "Another image of the same kind (default: the recipe's)");
  verb->add_option("--scale", options->scale, "A smaller image of the same kind: this share of its bytes and files")
      ->check(CLI::Range(0.0001, 10.0))
      ->capture_default_str();
  verb->add_option("--threads", options->threads, "Layers written at once (default: one a core)")
      ->check(CLI::Range(1, 256));
  verb->callback([options, &exit_code] { exit_code = MakeVerb(*options); });
}

}  // namespace soci::bench
