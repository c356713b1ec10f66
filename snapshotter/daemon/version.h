// The version of this build.
#pragma once

namespace soci {

inline constexpr char kVersion[] = "0.1.0";

}  // namespace soci
