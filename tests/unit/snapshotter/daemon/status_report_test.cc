#include "snapshotter/daemon/status_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace soci {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

LayerReport Layer(std::string_view name, LayerState state, uint32_t present) {
  LayerReport report;
  report.layer = oci::LayerDigest(oci::Digest::Of(name));
  report.image = "registry.example/app:v1";
  report.state = state;
  report.layer_size = 50 << 20;
  report.spans = 8;
  report.spans_present = present;
  return report;
}

Deferral Deferred(std::string_view name, std::string reason) {
  Deferral deferral;
  deferral.image = "registry.example/app:v1";
  deferral.layer = oci::Digest::Of(name).ToString();
  deferral.reason = std::move(reason);
  return deferral;
}

TEST(StatusReport, EachLayerShowsItsStateAndWhyItWasDeferred) {
  const std::string json = StatusJson({Layer("a", LayerState::kFilling, 2), Layer("b", LayerState::kSealed, 8)},
                                      {Deferred("c", "no zTOC for this layer")});
  auto text = StatusText(json);
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_THAT(*text, HasSubstr("registry.example/app:v1: 2 of 3 layers ours"));
  EXPECT_THAT(*text, HasSubstr("filling    25 %"));
  EXPECT_THAT(*text, HasSubstr("sealed"));
  EXPECT_THAT(*text, HasSubstr("no zTOC for this layer"));
}

TEST(StatusReport, ALayerThatWasPulledAsAWholeSaysSo) {
  LayerReport sealed = Layer("a", LayerState::kSealed, 8), unpacking = Layer("b", LayerState::kUnpacking, 0);
  sealed.unpacked = unpacking.unpacked = true;
  unpacking.bytes_read = 10 << 20;
  const std::string text = StatusText(StatusJson({sealed, unpacking}, {})).value();
  EXPECT_THAT(text, HasSubstr("sealed     50.0 MiB  pulled as a whole\n"));
  EXPECT_THAT(text, HasSubstr("unpacking  20 %  50.0 MiB  pulled as a whole\n"));
}

TEST(StatusReport, ALayerThatIsLazyNowIsNotListedAsDeferred) {
  const std::string json = StatusJson({Layer("a", LayerState::kLazy, 0)}, {Deferred("a", "the registry was away")});
  EXPECT_THAT(json, Not(HasSubstr("the registry was away")));
}

TEST(StatusReport, NothingIsSaidInWords) { EXPECT_EQ(StatusText(StatusJson({}, {})).value(), "no images\n"); }

TEST(StatusReport, AForeignAnswerIsRefused) {
  for (std::string_view json : {"", "[]", "{}", "{\"images\":1}", "{\"images\":[{\"image\":5}]}"}) {
    EXPECT_FALSE(StatusText(json).ok()) << json;
  }
}

}  // namespace
}  // namespace soci
