#include "bench/run/layer_folder.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <vector>

#include "bench/run/mapped_blob.h"
#include "indexer/oci/annotations.h"
#include "tests/e2e/support/image.h"

namespace soci::bench {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> Lines(const std::string& path) {
  std::ifstream stream(path);
  if (!stream) throw std::runtime_error("cannot read " + path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) {
    if (!line.empty()) lines.push_back(line);
  }
  if (lines.empty()) throw std::runtime_error(path + " is empty");
  return lines;
}

Json DescriptorJson(std::string_view media_type, const oci::Digest& digest, uint64_t size) {
  return {{"mediaType", media_type}, {"digest", digest.ToString()}, {"size", size}};
}

std::string ConfigJson(const Json& diff_ids) {
  Json config = Json::parse(test::TestImage().Config());
  config["config"]["Env"] = {"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"};
  config["rootfs"]["diff_ids"] = diff_ids;
  return config.dump();
}

}  // namespace

PushedImage PushLayerFolder(const std::string& folder, const test::DockerRegistry& registry,
                            const std::string& repository, const std::stop_token& stop) {
  PushedImage image{repository + ":v1"};
  Json layers = Json::array(), diff_ids = Json::array();
  for (const std::string& name : Lines(folder + "/LAYERS")) {
    const MappedBlob blob(folder + "/" + name + ".tar.gz");
    const auto diff_id = oci::DiffId::Parse(Lines(folder + "/" + name + ".diff_id")[0]);
    if (!diff_id.ok()) throw std::runtime_error(name + ".diff_id: " + std::string(Message(diff_id.status())));
    const oci::Digest digest = blob.MakeDigest(stop);
    test::PushBlob(registry, repository, blob.bytes(), digest, stop);
    layers.push_back(DescriptorJson(oci::kMediaTypeLayerGzip, digest, blob.bytes().size()));
    diff_ids.push_back(diff_id->ToString());
    image.bytes += blob.bytes().size();
    image.layers.push_back(digest.Hex());
  }
  const std::string config = ConfigJson(diff_ids);
  test::PushBlob(registry, repository, config);
  const Json manifest = {{"schemaVersion", 2},
                         {"mediaType", oci::kMediaTypeManifest},
                         {"config", DescriptorJson(oci::kMediaTypeImageConfig, oci::Digest::Of(config), config.size())},
                         {"layers", layers}};
  test::PushManifest(registry, repository, "v1", std::string(oci::kMediaTypeManifest), manifest.dump());
  return image;
}

}  // namespace soci::bench
