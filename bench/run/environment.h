// What a benchmark runs on: the machine, the kernel, versions, the time.
#pragma once

#include <string>

#include "bench/result/result.h"
#include "bench/run/contestant.h"

namespace soci::bench {

// `programs`: the folder of ours, to ask for their version.
Environment ThisEnvironment(const std::string& programs);

// What a snapshotter of others says of itself. One built without a version is told from others by its program's digest.
// Empty if there is nothing to ask.
std::string VersionOf(const Contestant& contestant);

}  // namespace soci::bench
