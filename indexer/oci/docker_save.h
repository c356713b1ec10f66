// The manifest.json of what `docker save` writes: which files of the archive are an image's config and layers. Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "indexer/base/result.h"

namespace soci::oci {

struct SavedImage {
  std::string config = {};               // a file of the archive
  std::vector<std::string> layers = {};  // files, lowest first
  std::vector<std::string> tags = {};    // as given to `docker save`
};

// kInvalidArgument, saying why, for anything else.
Result<std::vector<SavedImage>> ParseSavedImages(std::string_view json);

// The document with files renamed; everything else in it stays.
Result<std::string> RenameSavedFiles(std::string_view json, const std::map<std::string, std::string>& names);

}  // namespace soci::oci
