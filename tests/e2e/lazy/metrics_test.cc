// The metrics page of the daemon, and the document that explains it.
#include <gmock/gmock.h>

#include <fstream>
#include <regex>
#include <set>

#include "tests/e2e/support/http.h"
#include "tests/e2e/support/lazy_start.h"
#include "tests/support/free_port.h"

namespace soci::test {
namespace {

class Metrics : public LazyStart {
 protected:
  Metrics() : Metrics("127.0.0.1:" + std::to_string(FreePort())) {}
  // A limit has metrics of its own.
  explicit Metrics(const std::string& address)
      : LazyStart({"--fetch.fill=false", "--cache.limit=1GiB", "--service.metrics=" + address}), address_(address) {}

  std::string Page() const { return HttpRequest("GET", "http://" + address_ + "/metrics").body; }
  double Value(const std::string& name) const { return MetricValue(address_, name); }

 private:
  const std::string address_;
};

std::set<std::string> Names(const std::string& text) {
  std::set<std::string> names;
  const std::regex name("soci_[a-z_]+");
  for (std::sregex_iterator it(text.begin(), text.end(), name), end; it != end; ++it) names.insert(it->str());
  return names;
}

TEST_F(Metrics, TellWhatWasFetchedAndWhyAndHowLayersAre) {
  const ImageLayer big = GzipLayer(TarBuilder().File("big", NoiseBytes(1 << 20, 1)).File("last", "last").Finish());
  const TestImage image = TestImage().Add(GzipLayer(BusyboxTar().Finish())).Add(big);
  const std::string reference = PushIndexed(image, "app");
  PullLazily(reference);
  EXPECT_EQ(Value("soci_layers{state=\"lazy\"}"), 2);
  EXPECT_EQ(Value("soci_fetched_bytes_total{class=\"demand\"}"), 0);
  EXPECT_EQ(Output(reference, {"cat", "/last"}), "last");
  const double misses = Value("soci_demand_misses_total"), bytes = Value("soci_fetched_bytes_total{class=\"demand\"}");
  EXPECT_GT(misses, 0);
  EXPECT_GT(bytes, 0);
  EXPECT_LT(bytes, static_cast<double>(big.blob.size()));
  EXPECT_EQ(Value("soci_fetched_bytes_total{class=\"fill\"}"), 0);
  EXPECT_EQ(Output(reference, {"cat", "/last"}), "last");
  EXPECT_EQ(Value("soci_fetch_errors_total{kind=\"digest\"}"), 0);
  EXPECT_GT(Value("soci_spans_present"), 0);
}

TEST_F(Metrics, AreAllExplainedInTheDocument) {
  std::ifstream document(std::string(SOCI_SOURCE_DIR) + "/docs/metrics.md");
  const std::string text{std::istreambuf_iterator<char>(document), {}};
  std::set<std::string> served = Names(Page());
  EXPECT_EQ(served, Names(text));
}

}  // namespace
}  // namespace soci::test
