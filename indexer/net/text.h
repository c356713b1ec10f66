// The few operations on ASCII text that header parsing needs. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace soci {

bool EqualsIgnoringCase(std::string_view a, std::string_view b);
std::string ToLower(std::string_view text);
// Without spaces and tabs at both ends.
std::string_view Trim(std::string_view text);
// Decimal digits only, nothing else, at least one, no overflow.
std::optional<uint64_t> ParseDecimal(std::string_view text);
// application/x-www-form-urlencoded: letters, digits and "-_.~" stay, the rest becomes %XX.
std::string PercentEncode(std::string_view text);

}  // namespace soci
