#include "snapshotter/daemon/status_report.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "indexer/base/one_line.h"

namespace soci {
namespace {

using Json = nlohmann::json;

std::string Dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json LayerJson(const LayerReport& layer) {
  Json json = {{"digest", layer.layer.ToString()},
               {"state", std::string(ToString(layer.state))},
               {"percent", layer.percent()},
               {"size", layer.layer_size},
               {"spans", layer.spans},
               {"spans_present", layer.spans_present},
               {"directory", layer.directory}};
  if (!layer.reason.empty()) json["reason"] = layer.reason;
  if (layer.unpacked) json["unpacked"] = true;
  return json;
}

Json ReplayJson(const ReplayReport& replay) {
  const ReplayCounts& counts = replay.counts;
  Json json = {{"record", std::string(ToString(replay.source))},
               {"state", replay.state},
               {"recording", replay.recording},
               {"extents", replay.extents},
               {"unknown_extents", replay.unknown_extents},
               {"unused_extents", replay.unused_extents},
               {"spans", counts.spans},
               {"replayed_bytes", replay.bytes},
               {"replayed_spans", counts.came},
               {"local", counts.local},
               {"given_up", counts.given_up},
               {"hits", counts.hits},
               {"late", counts.late},
               {"misses", counts.misses},
               {"unexpected", counts.unexpected},
               {"time_won_ms", replay.time_won.count()}};
  if (!replay.reason.empty()) json["reason"] = replay.reason;
  return json;
}

std::string TimeText(std::chrono::system_clock::time_point time) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::chrono::system_clock::to_time_t(time)));
}

Json DeferralJson(const Deferral& deferral) {
  return {{"digest", deferral.layer},
          {"state", "deferred"},
          {"reason", deferral.reason},
          {"times", deferral.times},
          {"last", TimeText(deferral.last)}};
}

// "sha256:" and the first 12 digits: enough to tell layers apart on a screen.
std::string Short(const std::string& digest) { return digest.substr(0, 19); }

std::string LayerLine(const Json& layer) {
  const std::string state = layer.value("state", "");
  std::string line = fmt::format("  {:<19}  {:<9}", Short(layer.value("digest", "")), state);
  if (state == "filling" || state == "lazy" || state == "unpacking")
    line += fmt::format(" {:>3} %", layer.value("percent", 0));
  if (layer.contains("size")) line += fmt::format("  {:.1f} MiB", layer.value("size", 0.0) / (1 << 20));
  if (layer.value("unpacked", false)) line += "  pulled as a whole";
  if (layer.contains("reason")) line += "  " + layer.value("reason", "");
  return OneLine(line) + "\n";
}

std::string ReplayLine(const Json& replay) {
  const std::string source = replay.value("record", "");
  std::string line = "  record: " + source;
  if (source != "none") {
    line += fmt::format(", replay {}: {:.1f} MiB in {} of {} spans, {} hits, {} late, {} misses, {} not in it",
                        replay.value("state", ""), replay.value("replayed_bytes", 0.0) / (1 << 20),
                        replay.value("replayed_spans", 0), replay.value("spans", 0), replay.value("hits", 0),
                        replay.value("late", 0), replay.value("misses", 0), replay.value("unexpected", 0));
    if (replay.value("time_won_ms", 0) > 0)
      line += fmt::format(", about {:.1f} s won", replay.value("time_won_ms", 0.0) / 1000);
    if (replay.value("unknown_extents", 0) > 0) {
      line += fmt::format("; {} of its {} extents are of files that the image does not have, or not of that size",
                          replay.value("unknown_extents", 0), replay.value("extents", 0));
    }
    if (replay.value("unused_extents", 0) > 0) {
      line += fmt::format("; {} of its {} extents are of layers that are not lazy here",
                          replay.value("unused_extents", 0), replay.value("extents", 0));
    }
  }
  if (replay.contains("reason")) line += "; " + replay.value("reason", "");
  if (replay.value("recording", false)) line += "; being recorded now";
  return OneLine(line) + "\n";
}

std::string CacheLine(const Json& cache) {
  return fmt::format("cache: {:.1f} of {:.1f} MiB, {} spans evicted\n", cache.value("held", 0.0) / (1 << 20),
                     cache.value("limit", 0.0) / (1 << 20), cache.value("evicted_spans", 0));
}

}  // namespace

std::string StatusJson(const std::vector<LayerReport>& layers, const std::vector<Deferral>& deferrals,
                       const std::vector<ReplayReport>& replays, const std::optional<CacheLimit::Figures>& cache) {
  std::map<std::string, Json> images;
  std::set<std::string> provided;
  for (const LayerReport& layer : layers) {
    provided.insert(layer.layer.ToString());
    images[layer.image].push_back(LayerJson(layer));
  }
  for (const Deferral& deferral : deferrals) {
    // It was deferred once and is lazy now: no longer of interest.
    if (provided.count(deferral.layer) == 0) images[deferral.image].push_back(DeferralJson(deferral));
  }
  std::map<std::string, Json> replays_of;
  for (const ReplayReport& replay : replays) {
    if (images.count(replay.image) > 0) replays_of[replay.image] = ReplayJson(replay);
  }
  Json list = Json::array();
  for (auto& [image, image_layers] : images) {
    list.push_back({{"image", image}, {"layers", std::move(image_layers)}});
    if (replays_of.count(image) > 0) list.back()["replay"] = replays_of[image];
  }
  Json document = {{"images", std::move(list)}};
  if (cache) document["cache"] = {{"limit", cache->limit}, {"held", cache->held}, {"evicted_spans", cache->evicted}};
  return Dump(document);
}

Result<std::string> StatusText(std::string_view json) {
  const Json document = Json::parse(json.begin(), json.end(), nullptr, false);
  if (!document.is_object() || !document.contains("images") || !document["images"].is_array()) {
    return absl::InvalidArgumentError("the daemon's answer is no status document");
  }
  std::string text;
  if (document["images"].empty()) text = "no images\n";
  try {
    for (const Json& image : document["images"]) {
      const std::string name = image.value("image", "");
      const Json& layers = image.at("layers");
      const auto lazy = std::count_if(layers.begin(), layers.end(),
                                      [](const Json& layer) { return layer.value("state", "") != "deferred"; });
      text += fmt::format("{}: {} of {} layers ours\n", name.empty() ? "(no image name)" : name, lazy, layers.size());
      for (const Json& layer : layers) text += LayerLine(layer);
      if (image.contains("replay")) text += ReplayLine(image["replay"]);
    }
    if (document.contains("cache")) text += CacheLine(document["cache"]);
  } catch (const Json::exception& error) {
    return absl::InvalidArgumentError(fmt::format("the daemon's answer: {}", error.what()));
  }
  return text;
}

}  // namespace soci
