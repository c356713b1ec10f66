#include "indexer/index/layer_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "indexer/oci/annotations.h"

namespace soci {
namespace {

bool IsOneOf(std::string_view type, std::initializer_list<std::string_view> types) {
  return std::find(types.begin(), types.end(), type) != types.end();
}

bool IsGzip(std::string_view type) {
  return IsOneOf(type, {oci::kMediaTypeLayerGzip, oci::kMediaTypeForeignLayerGzip, oci::kMediaTypeDockerLayerGzip,
                        oci::kMediaTypeDockerForeignLayerGzip});
}

bool IsPlain(std::string_view type) {
  return IsOneOf(type, {oci::kMediaTypeLayerTar, oci::kMediaTypeDockerLayer, oci::kMediaTypeDockerForeignLayer});
}

bool IsLayer(std::string_view type) {
  return type.starts_with(oci::kMediaTypeLayerPrefix) || type.starts_with(oci::kMediaTypeDockerLayer) ||
         type.starts_with(oci::kMediaTypeDockerForeignLayer);
}

std::string UnsupportedReason(std::string_view type) {
  if (type.ends_with("+encrypted")) return "encrypted layers have no zTOC";
  if (type.ends_with("zstd")) return "zstd layers have no zTOC";
  return fmt::format("layers of type \"{}\" have no zTOC", type.substr(0, 100));
}

}  // namespace

std::string_view ToString(LayerOutcome outcome) {
  switch (outcome) {
    case LayerOutcome::kIndexed:
      return "indexed";
    case LayerOutcome::kIgnored:
      return "ignored";
    case LayerOutcome::kSmall:
      return "small";
    case LayerOutcome::kUnsupported:
      return "unsupported";
    case LayerOutcome::kRefused:
      return "refused";
  }
  return "?";
}

LayerChoice ChooseLayer(const oci::Descriptor& layer, uint64_t min_layer_size) {
  const std::string& type = layer.media_type;
  if (type == oci::kMediaTypePrefetch) return {.outcome = LayerOutcome::kIgnored, .reason = "a prefetch artifact"};
  if (!IsLayer(type)) {
    return {.outcome = LayerOutcome::kUnsupported,
            .reason = fmt::format("media type \"{}\" is not a layer", type.substr(0, 100))};
  }
  if (static_cast<uint64_t>(layer.size) < min_layer_size) {
    return {.outcome = LayerOutcome::kSmall,
            .reason = fmt::format("{} bytes are less than the minimum of {}", layer.size, min_layer_size)};
  }
  if (IsGzip(type)) return {.compression = Compression::kGzip};
  if (IsPlain(type)) return {.compression = Compression::kUncompressed};
  return {.outcome = LayerOutcome::kUnsupported, .reason = UnsupportedReason(type)};
}

}  // namespace soci
