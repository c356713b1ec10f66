#include "bench/run/stage.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "bench/run/child.h"
#include "bench/run/image_copy.h"

namespace soci::bench {
namespace {

// Of all layers, as `soci-index create --json` tells: a layer that it left out counts as stored.
uint64_t UnpackedBytes(const nlohmann::json& node) {
  uint64_t bytes = 0;
  if (node.is_object() && node.contains("outcome") && node.contains("size")) {
    return node.value("uncompressed_size", node.value("size", uint64_t{0}));
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
  say_(fmt::format("pushing {} to a registry of our own", folder));
  const std::filesystem::path path = std::filesystem::absolute(folder).lexically_normal();
  const std::string name = path.has_filename() ? path.filename().string() : path.parent_path().filename().string();
  return Indexed(name, PushLayerFolder(folder, registry_, fmt::format("image{}", ++images_)));
}

StagedImage Stage::AddImage(RegistryClient& from, const std::string& reference, const std::stop_token& stop) {
  say_(fmt::format("copying {} to a registry of our own", reference));
  const std::string repository = fmt::format("image{}", ++images_);
  return Indexed(reference, CopyImage(from, reference, registry_, repository, sandbox_ / "blob", stop));
}

StagedImage Stage::Indexed(std::string name, const PushedImage& pushed) {
  StagedImage image{std::move(name), pushed.path, pushed.bytes, 0};
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
  return image;
}

}  // namespace soci::bench
