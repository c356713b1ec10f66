// How a layer is stored, told by its first bytes: for layers whose media type says nothing or lies. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "indexer/base/bytes.h"

namespace soci {

enum class StreamFormat : uint8_t { kPlainTar, kGzip, kZstd };

std::string_view ToString(StreamFormat format);

// As many bytes as DetectCompression wants to see (fewer if the layer is shorter).
inline constexpr size_t kDetectSize = 512;

// Nothing if the bytes are none of these. A v7 tar has no mark of its own and is not recognised.
std::optional<StreamFormat> DetectCompression(ByteSpan first_bytes);

}  // namespace soci
