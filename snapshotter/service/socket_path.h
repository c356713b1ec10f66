// Makes way for a unix socket at a path: the folder is there, nothing dead is left, nobody living is disturbed.
#pragma once

#include <string>

#include "indexer/base/result.h"

namespace soci {

// kFailedPrecondition if a process answers there or if the path is no socket; kInvalidArgument if the path is too long.
Status ClaimSocketPath(const std::string& path);

}  // namespace soci
