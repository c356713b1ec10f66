// One pull and run of the demo's image, with the time and the bytes on the link at each milestone.
//
// Both courses start from nothing: a containerd (and snapshotter) of their own in a sandbox of their own, so no state
// is shared but the registry. Everything of a course is gone when the function returns or throws.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/link/link.h"

namespace soci::demo {

struct Milestone {
  std::string name;
  std::chrono::milliseconds at{0};  // since the pull began
  uint64_t bytes = 0;               // come over the link by then
};

struct Course {
  std::string name;
  std::vector<Milestone> milestones;  // pull, first output, imported, work done, fully local
};

// `reference` leads through the link.
Course RunOrdinary(const Link& link, const std::string& reference);
Course RunLazy(const Link& link, const std::string& reference);

}  // namespace soci::demo
