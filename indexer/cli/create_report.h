// What `create` has to say when it is done. Pure.
#pragma once

#include <string>
#include <vector>

#include "indexer/cli/exit_code.h"
#include "indexer/index/image_indexer.h"

namespace soci::cli {

struct CreateReport {
  std::string target;
  std::vector<ImageReport> images = {};
  std::vector<AbsentImage> absent = {};
};

// "DIGEST PLATFORM" for each index made.
std::string DigestLines(const CreateReport& report);

std::string ToJson(const CreateReport& report);

// What else the user should know: a line each.
std::string Remarks(const CreateReport& report);

// All, some or none: layers below the minimum size do not count. None is bad data if a layer was refused.
ExitCode CodeOf(const CreateReport& report);

}  // namespace soci::cli
