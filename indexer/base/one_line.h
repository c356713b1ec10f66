// Text that strangers may have written, for a log or a terminal: one line, and nothing but text. Pure.
#pragma once

#include <string>
#include <string_view>

namespace soci {

// Control characters become spaces.
std::string OneLine(std::string_view text);

}  // namespace soci
