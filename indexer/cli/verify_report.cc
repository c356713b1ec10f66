#include "indexer/cli/verify_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "indexer/oci/json_writer.h"

namespace soci::cli {
namespace {

std::string LinesOf(const VerifiedIndex& one) {
  const std::string index = one.index.ToString();
  std::string lines;
  for (const std::string& fault : one.verdict.faults) lines += fmt::format("{} {}\n", index, fault);
  size_t spans = 0, entries = 0;
  for (const LayerVerdict& layer : one.verdict.layers) {
    const std::string name = fmt::format("{} layer {}", index, layer.layer.digest.ToString());
    for (const std::string& fault : layer.faults.lines()) lines += fmt::format("{} {}\n", name, fault);
    if (layer.faults.left_out() > 0) lines += fmt::format("{} and {} more faults\n", name, layer.faults.left_out());
    spans += layer.spans;
    entries += layer.entries;
  }
  if (!lines.empty()) return lines;
  return fmt::format("{} {} right: {} layers, {} spans, {} entries\n", index, one.platform.ToString(),
                     one.verdict.layers.size(), spans, entries);
}

void Write(oci::JsonWriter& json, const LayerVerdict& layer) {
  json.BeginObject().Member("digest", layer.layer.digest.ToString()).Member("ztoc", layer.ztoc.digest.ToString());
  json.Key("spans").Unsigned(layer.spans).Key("entries").Unsigned(layer.entries);
  json.Key("faults").BeginArray();
  for (const std::string& fault : layer.faults.lines()) json.String(fault);
  json.EndArray().Key("faults_left_out").Unsigned(layer.faults.left_out()).EndObject();
}

}  // namespace

std::string VerdictLines(const std::vector<VerifiedIndex>& verified) {
  std::string lines;
  for (const VerifiedIndex& one : verified) lines += LinesOf(one);
  return lines;
}

std::string VerdictJson(const std::vector<VerifiedIndex>& verified) {
  oci::JsonWriter json;
  json.BeginArray();
  for (const VerifiedIndex& one : verified) {
    json.BeginObject().Member("index", one.index.ToString()).Member("platform", one.platform.ToString());
    json.Key("right").Bool(one.verdict.ok()).Key("faults").BeginArray();
    for (const std::string& fault : one.verdict.faults) json.String(fault);
    json.EndArray().Key("layers").BeginArray();
    for (const LayerVerdict& layer : one.verdict.layers) Write(json, layer);
    json.EndArray().EndObject();
  }
  json.EndArray();
  return json.text() + "\n";
}

bool AllRight(const std::vector<VerifiedIndex>& verified) {
  return std::all_of(verified.begin(), verified.end(), [](const VerifiedIndex& one) { return one.verdict.ok(); });
}

}  // namespace soci::cli
