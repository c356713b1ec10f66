#include "bench/run/stage.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "bench/run/child.h"
#include "bench/run/image_copy.h"
#include "tests/e2e/support/http.h"

namespace soci::bench {
namespace {

constexpr std::chrono::milliseconds kPatience(200);

// What `soci-index create --json` tells of an image; a layer that it left out counts as stored.
void ReadIndexReport(const nlohmann::json& node, StagedImage& image) {
  if (!node.is_structured()) return;
  if (node.is_object()) {
    image.index_bytes += node.value("index_size", uint64_t{0}) + node.value("ztoc_size", uint64_t{0});
    if (node.contains("outcome")) {
      image.unpacked_bytes += node.value("uncompressed_size", node.value("size", uint64_t{0}));
      image.index_spans += node.value("spans", uint64_t{0});
      ++image.layers;
      image.indexed_layers += node.value("spans", uint64_t{0}) > 0;
    }
  }
  for (const nlohmann::json& below : node) ReadIndexReport(below, image);
}

}  // namespace

Stage::Stage(std::string programs, Say say)
    : programs_(std::move(programs)),
      say_(std::move(say)),
      sandbox_([this](const std::string& left) { say_("left behind and removed: " + left); }),
      registry_(sandbox_) {}

StagedImage Stage::AddFolder(const std::string& folder, const std::stop_token& stop) {
  say_(fmt::format("pushing {} to a registry of our own", folder));
  const std::filesystem::path path = std::filesystem::absolute(folder).lexically_normal();
  const std::string name = path.has_filename() ? path.filename().string() : path.parent_path().filename().string();
  return Indexed(name, PushLayerFolder(folder, registry_, fmt::format("image{}", ++images_), stop), stop);
}

StagedImage Stage::AddImage(RegistryClient& from, const std::string& reference, const std::stop_token& stop) {
  say_(fmt::format("copying {} to a registry of our own", reference));
  const std::string repository = fmt::format("image{}", ++images_);
  return Indexed(reference, CopyImage(from, reference, registry_, repository, sandbox_ / "blob", stop), stop);
}

StagedImage Stage::Indexed(std::string name, const PushedImage& pushed, const std::stop_token& stop) {
  StagedImage image;
  image.name = std::move(name);
  image.path = pushed.path;
  layers_[image.path] = pushed.layers;
  image.bytes = pushed.bytes;
  const auto start = std::chrono::steady_clock::now();
  Child create({programs_ + "/soci-index", "create", "--plain-http", "--json", host() + "/" + image.path});
  while (!create.ended()) {
    create.Wait(kPatience);
    if (stop.stop_requested()) throw std::runtime_error("interrupted before the image was indexed");
  }
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  image.index_seconds = time.count();
  image.index_cpu_seconds = create.cpu_seconds();
  // Progress goes to the same pipe; the report begins with the first brace.
  const std::string& output = create.output();
  const size_t begin = std::min(output.find('{'), output.size());
  const auto report =
      nlohmann::json::parse(output.begin() + static_cast<ptrdiff_t>(begin), output.end(), nullptr, false);
  // An image whose layers are all too small, or of another kind, has no index; that is no failure here.
  if (!report.is_object() || !report.contains("platforms")) {
    throw std::runtime_error("soci-index create: " + LastLine(output));
  }
  ReadIndexReport(report, image);
  say_(fmt::format("{}: {:.0f} MB compressed, {:.0f} MB unpacked; {} of {} layers indexed in {:.1f} s", image.name,
                   static_cast<double>(image.bytes) / 1e6, static_cast<double>(image.unpacked_bytes) / 1e6,
                   image.indexed_layers, image.layers, image.index_seconds));
  if (image.indexed_layers == 0) say_(image.name + ": no layer is large enough for an index, so nothing of it is lazy");
  WarnOfLittleSpace(image);
  return image;
}

void Stage::WarnOfLittleSpace(const StagedImage& image) const {
  // A pull of containerd's keeps the layers beside what it unpacks from them.
  const uint64_t needed = image.bytes + image.unpacked_bytes;
  const std::string folder = storage();
  std::error_code error;
  const auto space = std::filesystem::space(folder, error);
  if (error || space.available > needed) return;
  say_(fmt::format(
      "a pull of {} takes about {:.1f} GB, and only {:.1f} GB are free where {} lies; TMPDIR may name another disk",
      image.name, static_cast<double>(needed) / 1e9, static_cast<double>(space.available) / 1e9, folder));
}

std::set<std::string> Stage::LayersOfOthers(const std::string& path) const {
  std::set<std::string> others;
  for (const auto& [image, layers] : layers_) others.insert(layers.begin(), layers.end());
  const auto own = layers_.find(path);
  if (own != layers_.end()) {
    for (const std::string& layer : own->second) others.erase(layer);
  }
  return others;
}

bool Stage::Has(const std::string& path) const {
  const size_t colon = path.rfind(':');
  const std::string url = registry_.url() + "/v2/" + path.substr(0, colon) + "/manifests/" + path.substr(colon + 1);
  return test::HttpRequest("HEAD", url, {},
                           {"Accept: application/vnd.oci.image.manifest.v1+json",
                            "Accept: application/vnd.docker.distribution.manifest.v2+json"})
             .status == 200;
}

Scenario Stage::IndexCost(const StagedImage& image) {
  Run run;
  run.mode = "soci-index";
  run.repeat = 1;
  run.points = {{"work finished", image.index_seconds, {}}};
  run.resources.client_cpu_seconds = image.index_cpu_seconds;
  run.counts = {{"index bytes", static_cast<double>(image.index_bytes)},
                {"spans", static_cast<double>(image.index_spans)}};
  return {"index-cost", image.name, "none", "soci-index create", image.bytes, image.unpacked_bytes, {run}};
}

}  // namespace soci::bench
