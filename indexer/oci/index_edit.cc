#include "indexer/oci/index_edit.h"

#include <nlohmann/json.hpp>

#include "indexer/oci/manifest.h"

namespace soci::oci {
namespace {

using nlohmann::ordered_json;

// The members that `entry` would be written with.
ordered_json EntryMembers(const Descriptor& entry) {
  const std::string text = ImageIndex{.manifests = {entry}}.ToJson();
  return ordered_json::parse(text)["manifests"][0];
}

void Overwrite(ordered_json& old_entry, const ordered_json& members) {
  for (const auto& [name, value] : members.items()) {
    if (name == "annotations" && old_entry.contains(name) && old_entry[name].is_object()) {
      for (const auto& [key, text] : value.items()) old_entry[name][key] = text;
    } else {
      old_entry[name] = value;
    }
  }
}

ordered_json WithMembers(ordered_json document, const ordered_json& members) {
  for (ordered_json& old_entry : document["manifests"]) {
    if (old_entry["digest"] != members["digest"]) continue;
    Overwrite(old_entry, members);
    return document;
  }
  document["manifests"].push_back(members);
  return document;
}

}  // namespace

Result<std::string> WithEntry(std::string_view image_index, const Descriptor& entry) {
  SOCI_RETURN_IF_ERROR(ImageIndex::Parse(image_index).status());  // bounds and shape; below it is well-formed
  try {
    const ordered_json before = ordered_json::parse(image_index);
    const ordered_json after = WithMembers(before, EntryMembers(entry));
    return after == before ? std::string(image_index) : after.dump();
  } catch (const ordered_json::exception& error) {
    return absl::InvalidArgumentError(std::string("not an image index: ") + error.what());
  }
}

}  // namespace soci::oci
