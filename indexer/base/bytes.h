// Views of raw memory, and the two conversions everybody needs.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace soci {

using ByteSpan = std::span<const std::byte>;
using MutableByteSpan = std::span<std::byte>;
using ByteBuffer = std::vector<std::byte>;

inline std::string_view AsText(ByteSpan bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
inline ByteSpan AsBytes(std::string_view text) { return std::as_bytes(std::span(text.data(), text.size())); }

}  // namespace soci
