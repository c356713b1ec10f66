// Names of tar members as paths below a layer's root. Pure; any thread.
#pragma once

#include <string_view>
#include <vector>

#include "indexer/base/result.h"

namespace soci::table {

// The kernel's limits: what is longer cannot be named there, nor unpacked by anybody.
inline constexpr size_t kMaxPathLength = 4095;
inline constexpr size_t kMaxNameLength = 255;

// The components of `path` with ".", ".." and empty ones resolved as text, as if it began at the root; none for the
// root itself. kInvalidArgument if it is too long or has a NUL. The views point into `path`.
Result<std::vector<std::string_view>> CleanPath(std::string_view path);

}  // namespace soci::table
