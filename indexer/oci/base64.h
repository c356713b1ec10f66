// Base64 with the standard alphabet and padding, as JSON documents carry bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace soci::oci {

std::string EncodeBase64(std::string_view bytes);

// Nothing if it is not exactly that: a foreign character, or padding that is missing or wrong.
std::optional<std::string> DecodeBase64(std::string_view text);

}  // namespace soci::oci
