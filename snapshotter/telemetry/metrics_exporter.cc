#include "snapshotter/telemetry/metrics_exporter.h"

#include <fmt/format.h>
#include <prometheus/collectable.h>
#include <prometheus/exposer.h>
#include <prometheus/metric_family.h>

#include <exception>
#include <utility>

namespace soci {
namespace {

class SampleCollector : public prometheus::Collectable {
 public:
  explicit SampleCollector(MetricsExporter::Collect collect) : collect_(std::move(collect)) {}

  std::vector<prometheus::MetricFamily> Collect() const override {
    std::vector<prometheus::MetricFamily> families;
    std::map<std::string, size_t> places;
    for (const MetricSample& sample : collect_()) {
      auto [place, is_new] = places.try_emplace(sample.name, families.size());
      if (is_new) {
        prometheus::MetricFamily family;
        family.name = sample.name;
        family.help = sample.help;
        family.type = sample.kind == MetricSample::Kind::kCounter ? prometheus::MetricType::Counter
                                                                  : prometheus::MetricType::Gauge;
        families.push_back(std::move(family));
      }
      prometheus::ClientMetric metric;
      for (const auto& [name, value] : sample.labels) metric.label.push_back({name, value});
      metric.counter.value = sample.value;
      metric.gauge.value = sample.value;
      families[place->second].metric.push_back(std::move(metric));
    }
    return families;
  }

 private:
  const MetricsExporter::Collect collect_;
};

class HttpExporter : public MetricsExporter {
 public:
  HttpExporter(const std::string& address, Collect collect)
      : collector_(std::make_shared<SampleCollector>(std::move(collect))), exposer_(address, 1) {
    exposer_.RegisterCollectable(collector_);
  }

 private:
  const std::shared_ptr<SampleCollector> collector_;  // the exposer keeps a weak reference
  prometheus::Exposer exposer_;
};

}  // namespace

Result<std::unique_ptr<MetricsExporter>> MetricsExporter::Start(const std::string& address, Collect collect) {
  try {
    return std::make_unique<HttpExporter>(address, std::move(collect));
  } catch (const std::exception& error) {
    return absl::UnavailableError(fmt::format("metrics address {}: {}", address, error.what()));
  }
}

}  // namespace soci
