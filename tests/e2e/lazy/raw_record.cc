#include "tests/e2e/lazy/raw_record.h"

#include <zstd.h>

#include <nlohmann/json.hpp>

#include "indexer/oci/annotations.h"
#include "indexer/record/wire.h"
#include "tests/e2e/support/http.h"

namespace soci::test {
namespace {

using Json = nlohmann::ordered_json;

Json DescriptorJson(std::string_view media_type, std::string_view bytes) {
  return {{"mediaType", media_type}, {"digest", oci::Digest::Of(bytes).ToString()}, {"size", bytes.size()}};
}

}  // namespace

std::string RawRecord::Message() const {
  WireWriter out;
  out.Number(1, 1);
  out.Bytes(2, manifest);
  for (const std::string& layer : layers) out.Bytes(3, layer);
  for (const RecordedFile& file : files) {
    WireWriter of_file;
    of_file.Number(1, file.layer);
    of_file.Bytes(2, file.path);
    of_file.Number(3, file.size);
    out.Bytes(4, of_file.Take());
  }
  std::vector<uint64_t> numbers, offsets, pages, think;
  int64_t before = 0;
  for (const RawExtent& extent : extents) {
    numbers.push_back(ZigZag(static_cast<int64_t>(extent.file) - before));
    before = static_cast<int64_t>(extent.file);
    offsets.push_back(extent.page);
    pages.push_back(extent.pages);
    think.push_back(extent.think);
  }
  out.Packed(5, numbers);
  out.Packed(6, offsets);
  out.Packed(7, pages);
  out.Packed(8, think);
  return out.Take();
}

std::string RawRecord::Encode() const { return ZstdFrame(Message()); }

std::string ZstdFrame(const std::string& bytes) {
  std::string frame(ZSTD_compressBound(bytes.size()), '\0');
  frame.resize(ZSTD_compress(frame.data(), frame.size(), bytes.data(), bytes.size(), 3));
  return frame;
}

void PublishBytes(const DockerRegistry& registry, const std::string& repository, const TestImage& image,
                  const std::string& bytes) {
  PushBlob(registry, repository, bytes);
  PushBlob(registry, repository, oci::kEmptyConfig);
  const std::string about = image.Manifest();
  const std::string artifact = Json{{"schemaVersion", 2},
                                    {"mediaType", oci::kMediaTypeManifest},
                                    {"artifactType", oci::kArtifactTypeRecord},
                                    {"config", DescriptorJson(oci::kMediaTypeEmptyConfig, oci::kEmptyConfig)},
                                    {"layers", {DescriptorJson(oci::kMediaTypeRecord, bytes)}},
                                    {"subject", DescriptorJson(oci::kMediaTypeManifest, about)}}
                                   .dump();
  PushManifest(registry, repository, oci::Digest::Of(artifact).ToString(), std::string(oci::kMediaTypeManifest),
               artifact);
  const std::string tag = "sha256-" + image.digest().Hex();
  const HttpAnswer there = HttpRequest("GET", registry.url() + "/v2/" + repository + "/manifests/" + tag, {},
                                       {"Accept: " + std::string(oci::kMediaTypeImageIndex)});
  Json index = there.status == 200
                   ? Json::parse(there.body)
                   : Json{{"schemaVersion", 2}, {"mediaType", oci::kMediaTypeImageIndex}, {"manifests", Json::array()}};
  Json listed = DescriptorJson(oci::kMediaTypeManifest, artifact);
  listed["artifactType"] = oci::kArtifactTypeRecord;
  index["manifests"].push_back(std::move(listed));
  PushManifest(registry, repository, tag, std::string(oci::kMediaTypeImageIndex), index.dump());
}

}  // namespace soci::test
