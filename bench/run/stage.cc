#include "bench/run/stage.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "bench/run/child.h"
#include "bench/run/layer_folder.h"

namespace soci::bench {
namespace {

// Of all layers, as `soci-index create --json` tells: a layer that it left out counts as stored.
uint64_t UnpackedBytes(const nlohmann::json& node) {
  uint64_t bytes = 0;
  if (node.is_object() && node.contains("outcome") && node.contains("size")) {
    return std::max(node.value("uncompressed_size", uint64_t{0}), node.value("size", uint64_t{0}));
  }
  if (node.is_structured()) {
    for (const nlohmann::json& below : node) bytes += UnpackedBytes(below);
  }
  return bytes;
}

}  // namespace

Stage::Stage(std::string programs, Say say)
    : programs_(std::move(programs)),
      say_(std::move(say)),
      sandbox_([this](const std::string& left) { say_("left behind and removed: " + left); }),
      registry_(sandbox_) {}

StagedImage Stage::AddFolder(const std::string& folder) {
  StagedImage image;
  image.name = std::filesystem::path(folder).lexically_normal().filename().string();
  if (image.name.empty()) image.name = std::filesystem::path(folder).parent_path().filename().string();
  say_(fmt::format("pushing {} to a registry of our own", folder));
  const PushedImage pushed = PushLayerFolder(folder, registry_, fmt::format("image{}", ++images_));
  image.path = pushed.path;
  image.bytes = pushed.bytes;
  MakeIndex(image);
  return image;
}

void Stage::MakeIndex(StagedImage& image) {
  const auto start = std::chrono::steady_clock::now();
  const test::CommandResult made =
      test::RunCommand({programs_ + "/soci-index", "create", "--plain-http", "--json", host() + "/" + image.path},
                       std::chrono::hours(1));
  if (!made.ok()) throw std::runtime_error("soci-index create: " + LastLine(made.err));
  image.unpacked_bytes = UnpackedBytes(nlohmann::json::parse(made.out, nullptr, false));
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  say_(fmt::format("{}: {:.0f} MB compressed, {:.0f} MB unpacked, indexed in {:.1f} s", image.name,
                   static_cast<double>(image.bytes) / 1e6, static_cast<double>(image.unpacked_bytes) / 1e6,
                   time.count()));
}

}  // namespace soci::bench
