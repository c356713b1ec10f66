#include "snapshotter/pull/layer_origin.h"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "indexer/base/file_io.h"

namespace soci {
namespace {

using Json = nlohmann::json;

constexpr int kVersion = 1;
constexpr uint64_t kLargestFile = 64 << 10;

Status Malformed(std::string_view what) { return absl::InvalidArgumentError(fmt::format("origin.json: {}", what)); }

Result<std::string> Text(const Json& object, const char* key) {
  auto found = object.find(key);
  if (found == object.end() || !found->is_string()) return Malformed(fmt::format("\"{}\" is no text", key));
  return found->get<std::string>();
}

Result<uint64_t> Number(const Json& object, const char* key, uint64_t limit) {
  auto found = object.find(key);
  if (found == object.end() || !found->is_number_unsigned() || found->get<uint64_t>() > limit) {
    return Malformed(fmt::format("\"{}\" is no number in bounds", key));
  }
  return found->get<uint64_t>();
}

Result<oci::Digest> DigestMember(const Json& object, const char* key) {
  SOCI_ASSIGN_OR_RETURN(std::string text, Text(object, key));
  return oci::Digest::Parse(text);
}

}  // namespace

Result<LayerOrigin> LayerOrigin::Parse(std::string_view json) {
  const Json object = Json::parse(json.begin(), json.end(), nullptr, false);
  if (!object.is_object()) return Malformed("not a JSON object");
  SOCI_ASSIGN_OR_RETURN(uint64_t version, Number(object, "version", std::numeric_limits<uint32_t>::max()));
  if (version != kVersion) return absl::FailedPreconditionError(fmt::format("origin.json: version {}", version));
  LayerOrigin origin;
  SOCI_ASSIGN_OR_RETURN(std::string image, Text(object, "image"));
  SOCI_ASSIGN_OR_RETURN(origin.image, oci::Reference::Parse(image));
  SOCI_ASSIGN_OR_RETURN(origin.manifest, DigestMember(object, "manifest"));
  SOCI_ASSIGN_OR_RETURN(origin.media_type, Text(object, "mediaType"));
  SOCI_ASSIGN_OR_RETURN(origin.layer_size, Number(object, "layerSize", std::numeric_limits<int64_t>::max()));
  SOCI_ASSIGN_OR_RETURN(oci::Digest diff_id, DigestMember(object, "diffId"));
  origin.diff_id = oci::DiffId(diff_id);
  SOCI_ASSIGN_OR_RETURN(origin.ztoc, DigestMember(object, "ztoc"));
  SOCI_ASSIGN_OR_RETURN(uint64_t number, Number(object, "number", std::numeric_limits<uint32_t>::max()));
  origin.number = static_cast<uint32_t>(number);
  origin.disable_xattrs = object.value("disableXattrs", Json(false)) == Json(true);
  origin.unpacked = object.value("unpacked", Json(false)) == Json(true);
  return origin;
}

std::string LayerOrigin::ToJson() const {
  Json object = {{"version", kVersion},     {"image", image.ToString()},       {"manifest", manifest.ToString()},
                 {"mediaType", media_type}, {"layerSize", layer_size},         {"diffId", diff_id.ToString()},
                 {"ztoc", ztoc.ToString()}, {"disableXattrs", disable_xattrs}, {"number", number}};
  if (unpacked) object["unpacked"] = true;
  return object.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

oci::Descriptor LayerOrigin::LayerDescriptor(const oci::LayerDigest& layer) const {
  oci::Descriptor descriptor;
  descriptor.media_type = media_type;
  descriptor.digest = layer;
  descriptor.size = static_cast<int64_t>(layer_size);
  return descriptor;
}

Result<LayerOrigin> ReadOrigin(const std::string& layer_folder) {
  SOCI_ASSIGN_OR_RETURN(std::string json, ReadFile(layer_folder + "/origin.json", kLargestFile));
  auto origin = LayerOrigin::Parse(json);
  if (!origin.ok()) return Annotate(origin.status(), layer_folder);
  return origin;
}

Status WriteOrigin(const std::string& layer_folder, const LayerOrigin& origin) {
  return ReplaceFile(layer_folder + "/origin.json", origin.ToJson());
}

}  // namespace soci
