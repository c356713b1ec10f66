// What `ztoc info` shows. Pure.
#pragma once

#include <string>

#include "indexer/cli/find_ztoc.h"

namespace soci::cli {

std::string ZtocText(const FoundZtoc& found, bool with_files);
std::string ZtocJson(const FoundZtoc& found, bool with_files);

}  // namespace soci::cli
