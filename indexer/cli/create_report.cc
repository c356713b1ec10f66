#include "indexer/cli/create_report.h"

#include <fmt/format.h>

#include "indexer/cli/format.h"
#include "indexer/oci/json_writer.h"
#include "indexer/table/layer_spans.h"

namespace soci::cli {
namespace {

struct Counts {
  size_t indexed = 0, unsupported = 0, refused = 0;
};

Counts Count(const CreateReport& report) {
  Counts counts;
  for (const ImageReport& image : report.images) {
    for (const LayerReport& layer : image.layers) {
      if (layer.outcome == LayerOutcome::kIndexed) ++counts.indexed;
      if (layer.outcome == LayerOutcome::kUnsupported) ++counts.unsupported;
      if (layer.outcome == LayerOutcome::kRefused) ++counts.refused;
    }
  }
  return counts;
}

void Write(oci::JsonWriter& json, const LayerReport& layer) {
  json.BeginObject();
  json.Member("digest", layer.layer.digest.ToString()).Member("media_type", layer.layer.media_type);
  json.Key("size").Integer(layer.layer.size).Member("outcome", ToString(layer.outcome));
  if (layer.outcome == LayerOutcome::kIndexed) {
    json.Member("ztoc", layer.ztoc.digest.ToString()).Key("ztoc_size").Integer(layer.ztoc.size);
    json.Member("diff_id", layer.diff_id.ToString()).Key("uncompressed_size").Unsigned(layer.uncompressed_size);
    json.Key("entries").Unsigned(layer.entries).Key("spans").Unsigned(layer.spans);
    json.Key("largest_span").Unsigned(layer.largest_span);
    json.Key("from_cache").Bool(layer.from_cache);
  } else {
    json.Member("reason", layer.reason);
  }
  json.EndObject();
}

void Write(oci::JsonWriter& json, const ImageReport& image) {
  json.BeginObject().Member("platform", image.platform.ToString()).Member("image", image.image.digest.ToString());
  if (image.index) json.Member("index", image.index->digest.ToString()).Key("index_size").Integer(image.index->size);
  json.Key("layers").BeginArray();
  for (const LayerReport& layer : image.layers) Write(json, layer);
  json.EndArray();
  if (image.prefetch_spans > 0) json.Key("prefetch_spans").Unsigned(image.prefetch_spans);
  if (!image.paths_not_found.empty()) {
    json.Key("prefetch_files_not_found").BeginArray();
    for (const std::string& path : image.paths_not_found) json.String(path);
    json.EndArray();
  }
  json.EndObject();
}

std::string_view ResultOf(ExitCode code) {
  if (code == ExitCode::kDone) return "all";
  return code == ExitCode::kPartDone ? "some" : "none";
}

}  // namespace

std::string DigestLines(const CreateReport& report) {
  std::string lines;
  for (const ImageReport& image : report.images) {
    if (image.index) lines += fmt::format("{} {}\n", image.index->digest.ToString(), image.platform.ToString());
  }
  return lines;
}

std::string ToJson(const CreateReport& report) {
  oci::JsonWriter json;
  json.BeginObject().Member("target", report.target).Member("result", ResultOf(CodeOf(report)));
  json.Key("platforms").BeginArray();
  for (const ImageReport& image : report.images) Write(json, image);
  json.EndArray();
  json.Key("absent").BeginArray();
  for (const AbsentImage& absent : report.absent) {
    json.BeginObject().Member("platform", absent.platform).Member("reason", Message(absent.reason)).EndObject();
  }
  json.EndArray().EndObject();
  return json.text() + "\n";
}

std::string Remarks(const CreateReport& report) {
  std::string lines;
  for (const AbsentImage& absent : report.absent) {
    lines += fmt::format("platform {} not indexed: {}\n", absent.platform, Message(absent.reason));
  }
  for (const ImageReport& image : report.images) {
    const std::string platform = image.platform.ToString();
    if (!image.index) lines += fmt::format("platform {}: no layer to index, no index made\n", platform);
    for (const LayerReport& layer : image.layers) {
      if (layer.outcome != LayerOutcome::kIndexed || layer.largest_span <= table::kMaxSpanSize) continue;
      lines += fmt::format("layer {}: its compressor made one block of {}; it will be unpacked, not loaded lazily\n",
                           ShortDigest(layer.layer.digest.ToString()), HumanSize(layer.largest_span));
    }
    for (const std::string& path : image.paths_not_found) {
      lines += fmt::format("platform {}: prefetch file {} is in no indexed layer\n", platform, path);
    }
  }
  return lines;
}

ExitCode CodeOf(const CreateReport& report) {
  const Counts counts = Count(report);
  if (counts.indexed == 0) return counts.refused > 0 ? ExitCode::kBadData : ExitCode::kNothingToIndex;
  const bool all = counts.refused == 0 && counts.unsupported == 0 && report.absent.empty();
  return all ? ExitCode::kDone : ExitCode::kPartDone;
}

}  // namespace soci::cli
