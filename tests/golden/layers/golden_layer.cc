#include "tests/golden/layers/golden_layer.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "indexer/base/byte_source.h"
#include "indexer/base/byte_stream.h"
#include "indexer/codec/stream_decoder.h"

namespace soci::golden {
namespace {

Layer FromJson(const std::string& name, const nlohmann::json& json) {
  Layer layer;
  layer.name = name;
  const std::string media_type = json.at("media_type");
  layer.compression = media_type.ends_with("gzip") ? Compression::kGzip : Compression::kUncompressed;
  layer.span_size = json.at("span_size");
  layer.error = json.value("error", "");
  layer.ztoc_digest = json.value("ztoc_sha256", "");
  return layer;
}

}  // namespace

const std::vector<Layer>& Layers() {
  static const std::vector<Layer> layers = [] {
    std::ifstream file(SOCI_SOURCE_DIR "/tests/golden/expected.json");
    const nlohmann::json expected = nlohmann::json::parse(file);
    std::vector<Layer> all;
    for (const auto& [name, json] : expected.at("layers").items()) all.push_back(FromJson(name, json));
    return all;
  }();
  return layers;
}

std::vector<Layer> LayersWhere(bool accepted) {
  std::vector<Layer> some;
  std::copy_if(Layers().begin(), Layers().end(), std::back_inserter(some),
               [accepted](const Layer& layer) { return layer.error.empty() == accepted; });
  return some;
}

std::string TestName(const ::testing::TestParamInfo<Layer>& info) {
  std::string name = info.param.name;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
  return name;
}

std::string ReadBlob(const Layer& layer) {
  const std::string path = SOCI_BINARY_DIR "/golden/blobs/" + layer.name + ".blob";
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot open " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string Decoded(const Layer& layer, const std::string& blob) {
  if (layer.compression == Compression::kUncompressed) return blob;
  const auto source = MakeMemorySource(blob);
  const auto stream = MakeSourceStream(*source, {});
  const auto decoded = DecodeStream(*stream, StreamFormat::kGzip);
  std::string tar;
  std::vector<std::byte> buffer(1 << 16);
  while (true) {
    const Result<size_t> count = decoded->Read(buffer);
    if (!count.ok()) throw std::runtime_error(count.status().ToString());
    if (*count == 0) return tar;
    tar += AsText(ByteSpan(buffer).first(*count));
  }
}

}  // namespace soci::golden
