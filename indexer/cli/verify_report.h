// What `verify` has to say. Pure.
#pragma once

#include <string>
#include <vector>

#include "indexer/index/verify_index.h"

namespace soci::cli {

struct VerifiedIndex {
  oci::Platform platform;
  oci::Digest index;
  IndexVerdict verdict;
};

// One line for each fault, "INDEX layer DIGEST span 3: ..."; for an index without any, one line that says what was
// verified.
std::string VerdictLines(const std::vector<VerifiedIndex>& verified);
std::string VerdictJson(const std::vector<VerifiedIndex>& verified);

bool AllRight(const std::vector<VerifiedIndex>& verified);

}  // namespace soci::cli
