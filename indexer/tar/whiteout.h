// The names by which an OCI layer says "deleted".
#pragma once

#include <string_view>

namespace soci::tar {

inline constexpr std::string_view kWhiteoutPrefix = ".wh.";
inline constexpr std::string_view kOpaqueWhiteout = ".wh..wh..opq";

}  // namespace soci::tar
