// What `soci-bench run` needs of the machine, looked for before anything is copied or measured: what is missing is told
// in one line at once, and not after minutes, by whatever happens to miss it first.
#pragma once

#include <string>

#include "bench/cli/run_plan.h"
#include "indexer/base/result.h"

namespace soci::bench {

// kFailedPrecondition: not root, a program that is not there, a result that could not be written.
Status CheckMachine(const RunOptions& options);

// Why figures measured here would mislead; empty: nothing known.
std::string WhyDoubtful();

}  // namespace soci::bench
