// Says whether a result lost against a kept one, by what can be counted: requests and bytes at the registry, bytes
// written to disk, and every entry of a run's counts (spans, misses, instructions, each a cost).
//
// Pure but for FindKept. Only our own modes are judged, and only the same work on the same image over the same link.
// Times are printed with their spread and never judged: a busy machine changes them, not what is counted.
#pragma once

#include <string>
#include <vector>

#include "bench/result/result.h"
#include "indexer/base/result.h"

namespace soci::bench {

struct GuardVerdict {
  std::string text;                 // for a terminal, losses included
  std::vector<std::string> losses;  // one line each
  size_t compared = 0;              // counts

  // What was compared with nothing did not hold.
  bool Holds() const { return losses.empty() && compared > 0; }
};

struct GuardLimits {
  double most_loss = 0.10;
  // A kept count that itself varies by more between repeats (bytes at a moment while a fill runs) proves no loss.
  double steady = 0.10;
};

GuardVerdict Guard(const Result& kept, const Result& now, const GuardLimits& limits = {});

// The kept result: that file; or of a folder, for each scenario of `now`, the newest by the date in it (then by name)
// that measured the same; if there is none, the newest that has the scenario, so that Guard can say what differs.
soci::Result<Result> FindKept(const std::string& path, const Result& now);

}  // namespace soci::bench
