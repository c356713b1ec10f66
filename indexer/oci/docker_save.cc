#include "indexer/oci/docker_save.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace soci::oci {
namespace {

using nlohmann::ordered_json;

Status Malformed(std::string_view why) { return absl::InvalidArgumentError(fmt::format("manifest.json: {}", why)); }

std::vector<std::string> Texts(const ordered_json& image, const char* name) {
  std::vector<std::string> texts;
  const auto member = image.find(name);
  if (member == image.end() || member->is_null()) return texts;
  for (const ordered_json& text : *member) texts.push_back(text.get<std::string>());
  return texts;
}

void Rename(ordered_json& text, const std::map<std::string, std::string>& names) {
  const auto found = names.find(text.get<std::string>());
  if (found != names.end()) text = found->second;
}

}  // namespace

Result<std::vector<SavedImage>> ParseSavedImages(std::string_view json) {
  try {
    const ordered_json document = ordered_json::parse(json);
    if (!document.is_array() || document.empty()) return Malformed("is no list of images");
    std::vector<SavedImage> images;
    for (const ordered_json& image : document) {
      images.push_back({.config = image.at("Config").get<std::string>(),
                        .layers = Texts(image, "Layers"),
                        .tags = Texts(image, "RepoTags")});
    }
    return images;
  } catch (const ordered_json::exception& error) {
    return Malformed(error.what());
  }
}

Result<std::string> RenameSavedFiles(std::string_view json, const std::map<std::string, std::string>& names) {
  SOCI_RETURN_IF_ERROR(ParseSavedImages(json).status());
  ordered_json document = ordered_json::parse(json);
  for (ordered_json& image : document) {
    Rename(image["Config"], names);
    for (ordered_json& layer : image["Layers"]) Rename(layer, names);
  }
  return document.dump();
}

}  // namespace soci::oci
