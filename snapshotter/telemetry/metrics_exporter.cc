#include "snapshotter/telemetry/metrics_exporter.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <prometheus/collectable.h>
#include <prometheus/exposer.h>
#include <prometheus/metric_family.h>
#include <sys/socket.h>

#include <chrono>
#include <exception>
#include <thread>
#include <utility>

#include "indexer/base/unique_fd.h"

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

void Knock(int port) {
  const UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  if (socket) ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address));
}

class HttpExporter : public MetricsExporter {
 public:
  HttpExporter(const std::string& address, Collect collect)
      : collector_(std::make_shared<SampleCollector>(std::move(collect))),
        exposer_(std::make_unique<prometheus::Exposer>(address, 1)) {
    exposer_->RegisterCollectable(collector_);
  }

  // The server looks whether it shall end when somebody connects, or else every two seconds: too long for a daemon
  // whose restart containers wait for.
  ~HttpExporter() override {
    const std::vector<int> ports = exposer_->GetListeningPorts();
    const std::jthread knocking([&](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        for (int port : ports) Knock(port);
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
    });
    exposer_.reset();
  }

 private:
  const std::shared_ptr<SampleCollector> collector_;  // the exposer keeps a weak reference
  std::unique_ptr<prometheus::Exposer> exposer_;
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
