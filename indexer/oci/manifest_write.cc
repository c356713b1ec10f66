#include "indexer/oci/base64.h"
#include "indexer/oci/json_writer.h"
#include "indexer/oci/manifest.h"

namespace soci::oci {
namespace {

void Write(JsonWriter& json, const Annotations& annotations) {
  if (annotations.empty()) return;
  json.Key("annotations").BeginObject();
  for (const auto& [key, value] : annotations) json.Member(key, value);
  json.EndObject();
}

void WriteStrings(JsonWriter& json, std::string_view name, const std::vector<std::string>& values) {
  if (values.empty()) return;
  json.Key(name).BeginArray();
  for (const std::string& value : values) json.String(value);
  json.EndArray();
}

void WriteUnlessEmpty(JsonWriter& json, std::string_view name, const std::string& value) {
  if (!value.empty()) json.Member(name, value);
}

void Write(JsonWriter& json, const Platform& platform) {
  json.BeginObject().Member("architecture", platform.architecture).Member("os", platform.os);
  WriteUnlessEmpty(json, "os.version", platform.os_version);
  WriteStrings(json, "os.features", platform.os_features);
  WriteUnlessEmpty(json, "variant", platform.variant);
  json.EndObject();
}

void Write(JsonWriter& json, const Descriptor& descriptor) {
  json.BeginObject();
  json.Member("mediaType", descriptor.media_type).Member("digest", descriptor.digest.ToString());
  json.Key("size").Integer(descriptor.size);
  WriteStrings(json, "urls", descriptor.urls);
  Write(json, descriptor.annotations);
  WriteUnlessEmpty(json, "data", EncodeBase64(descriptor.data));
  if (descriptor.platform) Write(json.Key("platform"), *descriptor.platform);
  WriteUnlessEmpty(json, "artifactType", descriptor.artifact_type);
  json.EndObject();
}

void WriteList(JsonWriter& json, std::string_view name, const std::vector<Descriptor>& descriptors) {
  json.Key(name).BeginArray();
  for (const Descriptor& descriptor : descriptors) Write(json, descriptor);
  json.EndArray();
}

template <typename Document>
void WriteHead(JsonWriter& json, const Document& document) {
  json.BeginObject().Key("schemaVersion").Integer(2);
  WriteUnlessEmpty(json, "mediaType", document.media_type);
  WriteUnlessEmpty(json, "artifactType", document.artifact_type);
}

template <typename Document>
void WriteTail(JsonWriter& json, const Document& document) {
  if (document.subject) Write(json.Key("subject"), *document.subject);
  Write(json, document.annotations);
  json.EndObject();
}

}  // namespace

std::string Manifest::ToJson() const {
  JsonWriter json;
  WriteHead(json, *this);
  Write(json.Key("config"), config);
  WriteList(json, "layers", layers);
  WriteTail(json, *this);
  return json.text();
}

std::string ImageIndex::ToJson() const {
  JsonWriter json;
  WriteHead(json, *this);
  WriteList(json, "manifests", manifests);
  WriteTail(json, *this);
  return json.text();
}

}  // namespace soci::oci
