// What `ztoc info` and `ztoc get-file` have to say. Pure.
#pragma once

#include <string>

#include "indexer/cli/find_ztoc.h"

namespace soci::cli {

std::string ZtocText(const FoundZtoc& found, bool with_files);
std::string ZtocJson(const FoundZtoc& found, bool with_files);

// What `ztoc get-file` wrote, from where to where. The file is in the zTOC.
std::string ExtractedJson(const FoundZtoc& found, const std::string& path, const std::string& output);

}  // namespace soci::cli
