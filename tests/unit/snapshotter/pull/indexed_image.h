// An image with a SOCI index in a FakeRegistryClient: real gzip layers, real zTOCs, real documents.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "indexer/index/index_builder.h"
#include "indexer/oci/annotations.h"
#include "indexer/oci/manifest.h"
#include "indexer/ztoc/layer_scanner.h"
#include "snapshotter/pull/layer_request.h"
#include "tests/fakes/fake_registry_client.h"
#include "tests/support/tar_builder.h"
#include "tests/ztoc/ztoc_value.h"

namespace soci::test {

struct IndexedImage {
  oci::Reference reference = oci::Reference::Parse("registry.example/ai/train:v1").value();
  oci::Digest manifest;
  std::vector<oci::Descriptor> layers;
  std::vector<oci::DiffId> diff_ids;
  std::vector<oci::Descriptor> ztocs;
  std::vector<std::string> blobs;

  LayerRequest Request(size_t layer) const {
    return {reference, manifest, oci::LayerDigest(layers[layer].digest), std::nullopt};
  }
  Labels RequestLabels(size_t layer) const {
    return {{std::string(oci::kLabelSnapshotRef), diff_ids[layer].ToString()},
            {std::string(oci::kLabelImageRef), reference.ToString()},
            {std::string(oci::kLabelManifestDigest), manifest.ToString()},
            {std::string(oci::kLabelLayerDigest), layers[layer].digest.ToString()}};
  }
};

inline oci::Descriptor DescriptorOf(std::string_view media_type, std::string_view bytes) {
  oci::Descriptor descriptor;
  descriptor.media_type = std::string(media_type);
  descriptor.digest = oci::Digest::Of(bytes);
  descriptor.size = static_cast<int64_t>(bytes.size());
  return descriptor;
}

// Layer i holds "file<i>" and shares nothing with the others unless the contents are equal. Those in `without_ztoc`
// are left out of the index; with `index` off there is none at all.
inline IndexedImage PushIndexedImage(FakeRegistryClient& registry, const std::vector<std::string>& contents,
                                     const std::vector<size_t>& without_ztoc = {}, bool index = true,
                                     std::string reference = "registry.example/ai/train:v1",
                                     const std::function<void(size_t, test::Ztoc&)>& falsify = {}) {
  IndexedImage image;
  image.reference = oci::Reference::Parse(reference).value();
  oci::Manifest manifest;
  manifest.media_type = std::string(oci::kMediaTypeManifest);
  IndexContents ztocs;
  ztocs.span_size = 64 << 10;
  ztocs.build_tool = std::string(oci::kBuildTool);
  std::string diff_ids;
  for (size_t i = 0; i < contents.size(); ++i) {
    const std::string blob = Gzip(TarBuilder().Directory("d").File("d/file", contents[i]).Finish());
    image.blobs.push_back(blob);
    image.layers.push_back(DescriptorOf(oci::kMediaTypeLayerGzip, blob));
    if (!registry.PushBlob(image.reference, image.layers[i], blob).ok()) std::abort();
    const auto source = MakeMemorySource(blob);
    const auto stream = MakeSourceStream(*source, {});
    ScanOptions options;
    options.span_size = ztocs.span_size;
    ScannedLayer scanned = ScanLayer(*stream, Compression::kGzip, options).value();
    test::Ztoc table = test::Unpack(std::move(scanned.ztoc));
    if (falsify) falsify(i, table);
    const std::string ztoc = EncodeZtoc(std::move(table)).value();
    image.diff_ids.push_back(scanned.diff_id);
    image.ztocs.push_back(DescriptorOf(oci::kMediaTypeZtoc, ztoc));
    diff_ids += (i == 0 ? "\"" : ",\"") + scanned.diff_id.ToString() + "\"";
    if (std::count(without_ztoc.begin(), without_ztoc.end(), i) > 0) continue;
    if (!registry.PushBlob(image.reference, image.ztocs[i], ztoc).ok()) std::abort();
    ztocs.ztocs.push_back({image.layers[i], image.ztocs[i], false});
  }
  const std::string config =
      R"({"architecture":"amd64","os":"linux","rootfs":{"type":"layers","diff_ids":[)" + diff_ids + "]}}";
  manifest.config = DescriptorOf(oci::kMediaTypeImageConfig, config);
  manifest.layers = image.layers;
  if (!registry.PushBlob(image.reference, manifest.config, config).ok()) std::abort();
  image.manifest = registry.AddManifest(image.reference, image.reference.tag, manifest.media_type, manifest.ToJson());
  if (index) {
    const std::string json = MakeSociIndexV1(ztocs, DescriptorOf(oci::kMediaTypeManifest, manifest.ToJson())).ToJson();
    registry.AddManifest(image.reference, oci::Digest::Of(json).ToString(), oci::kMediaTypeManifest, json);
  }
  return image;
}

}  // namespace soci::test
