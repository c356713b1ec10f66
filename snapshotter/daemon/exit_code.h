// A status as a program's exit code. The numbers are documented and do not change.
#pragma once

#include "indexer/base/result.h"

namespace soci {

inline constexpr int kExitDone = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;

int ExitCodeOf(const Status& status);

// Prints "soci-snapshotter: what went wrong" on stderr and gives the exit code.
int Fail(const Status& status);

}  // namespace soci
