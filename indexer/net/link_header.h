// Finds the next page in a Link header (RFC 8288), as registries page their lists. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace soci {

// The target of the first link whose rel is "next", as written (it may be relative). None if there is no such link.
std::optional<std::string> ParseNextLink(std::string_view header);

}  // namespace soci
