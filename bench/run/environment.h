// What a benchmark runs on: the machine, the kernel, versions, the time.
#pragma once

#include <string>

#include "bench/result/result.h"

namespace soci::bench {

// `programs`: the folder of ours, to ask for their version.
Environment ThisEnvironment(const std::string& programs);

}  // namespace soci::bench
