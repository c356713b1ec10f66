#include "snapshotter/pull/layer_request.h"

#include <fmt/format.h>

#include "indexer/oci/annotations.h"

namespace soci {
namespace {

// The label's value; null if it is missing or empty.
const std::string* Find(const Labels& labels, std::string_view key) {
  auto found = labels.find(std::string(key));
  return found == labels.end() || found->second.empty() ? nullptr : &found->second;
}

RequestRefused Missing(std::string_view key) {
  return {fmt::format("label {} is missing: whoever pulls sends no image annotations to snapshotters", key)};
}

RequestRefused Bad(std::string_view key, const Status& status) {
  return {fmt::format("label {}: {}", key, Message(status))};
}

}  // namespace

std::variant<LayerRequest, RequestRefused> ReadLayerRequest(const Labels& labels) {
  for (std::string_view key : {oci::kLabelImageRef, oci::kLabelManifestDigest, oci::kLabelLayerDigest}) {
    if (Find(labels, key) == nullptr) return Missing(key);
  }
  auto image = oci::Reference::Parse(*Find(labels, oci::kLabelImageRef));
  if (!image.ok()) return Bad(oci::kLabelImageRef, image.status());
  auto manifest = oci::Digest::Parse(*Find(labels, oci::kLabelManifestDigest));
  if (!manifest.ok()) return Bad(oci::kLabelManifestDigest, manifest.status());
  auto layer = oci::LayerDigest::Parse(*Find(labels, oci::kLabelLayerDigest));
  if (!layer.ok()) return Bad(oci::kLabelLayerDigest, layer.status());

  LayerRequest request{*std::move(image), *manifest, *layer, std::nullopt};
  if (const std::string* named = Find(labels, oci::kLabelSociIndexDigest)) {
    auto index = oci::Digest::Parse(*named);
    if (!index.ok()) return Bad(oci::kLabelSociIndexDigest, index.status());
    request.soci_index = *index;
  }
  return request;
}

}  // namespace soci
