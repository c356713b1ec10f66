// The names in a folder, without "." and "..", sorted; none if it cannot be read.
#pragma once

#include <string>
#include <vector>

namespace soci {

std::vector<std::string> ListFolder(const std::string& folder);

}  // namespace soci
