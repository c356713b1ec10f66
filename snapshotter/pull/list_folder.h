// The names in a folder, without "." and "..", sorted; none if it cannot be read. And names that are numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace soci {

std::vector<std::string> ListFolder(const std::string& folder);

// The number that is the whole of the name.
std::optional<uint32_t> NumberOf(const std::string& name);

}  // namespace soci
