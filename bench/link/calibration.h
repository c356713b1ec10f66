// What a link really does, found by plain downloads through it: delay, rate of one connection, rate of all.
//
// Measures a link of its own with the same options, in front of a source of its own on loopback, so that no registry's
// speed is part of the answer. Takes a few seconds of real time. Blocks; any thread.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "bench/link/link.h"
#include "indexer/base/result.h"

namespace soci {

struct CalibratedFigure {
  std::string name;
  double wanted = 0;
  double measured = 0;  // in the unit of `wanted`: ms, or bytes per second
  double deviation() const { return wanted == 0 ? 0 : measured / wanted - 1; }
};

struct Calibration {
  std::vector<CalibratedFigure> figures;  // only of what is limited
  bool Within(double share) const;
  // One line, for reports.
  std::string ToText() const;
};

// `bytes`: how much each download carries; more takes longer and is more exact. kCancelled, at once, when it is
// stopped.
Result<Calibration> Calibrate(const LinkOptions& link, uint64_t bytes = uint64_t{64} << 20,
                              const std::stop_token& stop = {});

}  // namespace soci
