// Answers Prometheus at http://ADDRESS/metrics with what a collector says at that moment.
//
// Nothing is counted here: parts count for themselves, in atomics, and the collector reads them. The collector is
// called from the exporter's own thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "indexer/base/result.h"

namespace soci {

struct MetricSample {
  enum class Kind { kCounter, kGauge };

  std::string name;
  std::string help;
  Kind kind = Kind::kCounter;
  std::map<std::string, std::string> labels = {};
  double value = 0;
};

class MetricsExporter {
 public:
  using Collect = std::function<std::vector<MetricSample>()>;

  // `address`: HOST:PORT. kUnavailable, naming it, if it cannot be listened on.
  static Result<std::unique_ptr<MetricsExporter>> Start(const std::string& address, Collect collect);
  virtual ~MetricsExporter() = default;
};

}  // namespace soci
