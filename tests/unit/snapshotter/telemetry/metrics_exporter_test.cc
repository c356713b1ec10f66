#include "snapshotter/telemetry/metrics_exporter.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "indexer/base/unique_fd.h"
#include "tests/support/free_port.h"

namespace soci {
namespace {

using ::testing::HasSubstr;

std::string Get(int port) {
  const UniqueFd socket(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  if (::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) return "no connection";
  const std::string request = "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
  ::send(socket.get(), request.data(), request.size(), 0);
  std::string answer;
  char piece[4096];
  for (ssize_t got; (got = ::recv(socket.get(), piece, sizeof(piece), 0)) > 0;) answer.append(piece, got);
  return answer;
}

TEST(MetricsExporter, SamplesOfOneNameBecomeOneFamily) {
  const int port = test::FreePort();
  auto exporter = MetricsExporter::Start("127.0.0.1:" + std::to_string(port), [] {
    using Kind = MetricSample::Kind;
    return std::vector<MetricSample>{{"soci_layers", "Layers by state", Kind::kGauge, {{"state", "lazy"}}, 3},
                                     {"soci_layers", "Layers by state", Kind::kGauge, {{"state", "sealed"}}, 4},
                                     {"soci_errors_total", "Errors", Kind::kCounter, {}, 5}};
  });
  ASSERT_TRUE(exporter.ok()) << exporter.status();
  const std::string answer = Get(port);
  EXPECT_THAT(answer, HasSubstr("soci_layers{state=\"lazy\"} 3"));
  EXPECT_THAT(answer, HasSubstr("soci_layers{state=\"sealed\"} 4"));
  EXPECT_THAT(answer, HasSubstr("# TYPE soci_errors_total counter"));
}

TEST(MetricsExporter, AnAddressThatCannotBeListenedOnIsNamed) {
  auto exporter = MetricsExporter::Start("256.0.0.1:1", [] { return std::vector<MetricSample>(); });
  ASSERT_FALSE(exporter.ok());
  EXPECT_THAT(exporter.status().ToString(), HasSubstr("256.0.0.1:1"));
}

}  // namespace
}  // namespace soci
