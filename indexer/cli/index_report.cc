#include "indexer/cli/index_report.h"

#include <fmt/format.h>

#include "indexer/cli/format.h"
#include "indexer/oci/annotations.h"
#include "indexer/oci/json_writer.h"

namespace soci::cli {
namespace {

int VersionOf(const SociIndex& index) { return index.manifest.config.media_type == oci::kMediaTypeSociIndexV2 ? 2 : 1; }

std::string Annotation(const oci::Annotations& annotations, std::string_view key) {
  const auto found = annotations.find(std::string(key));
  return found == annotations.end() ? "" : found->second;
}

struct Totals {
  size_t ztocs = 0;
  uint64_t bytes = 0;
};

Totals TotalsOf(const SociIndex& index) {
  Totals totals;
  for (const oci::Descriptor& artifact : index.manifest.layers) {
    if (artifact.media_type == oci::kMediaTypeZtoc) ++totals.ztocs;
    totals.bytes += static_cast<uint64_t>(artifact.size);
  }
  return totals;
}

void WriteHead(oci::JsonWriter& json, const SociIndex& index) {
  json.Member("digest", index.digest.ToString()).Key("version").Integer(VersionOf(index));
  json.Member("build_tool", Annotation(index.manifest.annotations, oci::kAnnotationBuildTool));
  if (index.manifest.subject) json.Member("subject", index.manifest.subject->digest.ToString());
}

std::string_view KindOf(const oci::Descriptor& artifact) {
  if (artifact.media_type == oci::kMediaTypeZtoc) return "ztoc";
  return artifact.media_type == oci::kMediaTypePrefetch ? "prefetch" : "other";
}

}  // namespace

std::string ListTable(const std::vector<ListedIndex>& indexes) {
  std::vector<std::vector<std::string>> rows = {{"INDEX", "PLATFORM", "VERSION", "FOUND BY", "ZTOCS", "SIZE"}};
  for (const ListedIndex& listed : indexes) {
    const Totals totals = TotalsOf(listed.index);
    rows.push_back({listed.index.digest.ToString(), listed.platform.ToString(), std::to_string(VersionOf(listed.index)),
                    std::string(ToString(listed.index.found_by)), std::to_string(totals.ztocs),
                    HumanSize(totals.bytes)});
  }
  return indexes.empty() ? "" : Table(rows, {4, 5});
}

std::string ListJson(const std::vector<ListedIndex>& indexes) {
  oci::JsonWriter json;
  json.BeginArray();
  for (const ListedIndex& listed : indexes) {
    const Totals totals = TotalsOf(listed.index);
    json.BeginObject();
    WriteHead(json, listed.index);
    json.Member("platform", listed.platform.ToString()).Member("image", listed.image.ToString());
    json.Member("found_by", ToString(listed.index.found_by));
    json.Key("ztocs").Unsigned(totals.ztocs).Key("size").Unsigned(totals.bytes).EndObject();
  }
  json.EndArray();
  return json.text() + "\n";
}

std::string InfoText(const SociIndex& index) {
  std::string text = fmt::format("SOCI index {}\nversion {}", index.digest.ToString(), VersionOf(index));
  const std::string tool = Annotation(index.manifest.annotations, oci::kAnnotationBuildTool);
  if (!tool.empty()) text += fmt::format(", made by {}", tool);
  if (index.manifest.subject) text += fmt::format(", about {}", index.manifest.subject->digest.ToString());
  std::vector<std::vector<std::string>> rows = {{"LAYER", "ARTIFACT", "DIGEST", "SIZE", "SPAN SIZE"}};
  for (const oci::Descriptor& artifact : index.manifest.layers) {
    rows.push_back({ShortDigest(Annotation(artifact.annotations, oci::kAnnotationLayerDigest)),
                    std::string(KindOf(artifact)), artifact.digest.ToString(), HumanSize(artifact.size),
                    Annotation(artifact.annotations, oci::kAnnotationSpanSize)});
  }
  return text + "\n" + Table(rows, {3, 4});
}

std::string InfoJson(const SociIndex& index) {
  oci::JsonWriter json;
  json.BeginObject();
  WriteHead(json, index);
  json.Key("artifacts").BeginArray();
  for (const oci::Descriptor& artifact : index.manifest.layers) {
    json.BeginObject().Member("kind", KindOf(artifact)).Member("digest", artifact.digest.ToString());
    json.Key("size").Integer(artifact.size).Member("media_type", artifact.media_type);
    json.Member("layer", Annotation(artifact.annotations, oci::kAnnotationLayerDigest));
    json.Key("annotations").BeginObject();
    for (const auto& [key, value] : artifact.annotations) json.Member(key, value);
    json.EndObject().EndObject();
  }
  json.EndArray().EndObject();
  return json.text();
}

}  // namespace soci::cli
