// Every golden layer that the reference tool refuses is refused with a reason that says what is wrong with it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "indexer/base/file_io.h"
#include "indexer/index/layer_choice.h"
#include "indexer/index/layer_indexer.h"
#include "indexer/oci/annotations.h"

namespace soci::golden {
namespace {

struct RefusedLayer {
  std::string name;
  std::string media_type;
  uint64_t span_size = 0;
  std::string error;
};

void PrintTo(const RefusedLayer& layer, std::ostream* out) { *out << layer.name; }

std::vector<RefusedLayer> RefusedLayers() {
  std::ifstream file(SOCI_SOURCE_DIR "/tests/golden/expected.json");
  const nlohmann::json expected = nlohmann::json::parse(file);
  std::vector<RefusedLayer> layers;
  for (const auto& [name, layer] : expected.at("layers").items()) {
    if (layer.contains("error")) layers.push_back({name, layer["media_type"], layer["span_size"], layer["error"]});
  }
  return layers;
}

// What our reason says for each class of the reference tool's errors.
const std::map<std::string, std::string> kReasons = {
    {"member type not supported", "member type not supported"},
    {"bytes after the last gzip member", "bytes after the last gzip member"},
    {"gzip data truncated", "gzip data truncated"},
    {"gzip checksum or length wrong", "gzip checksum or length wrong"},
    {"not a gzip stream", "not a gzip stream|its media type says gzip"},
    {"not a tar archive", "not a tar archive|its media type says plain tar"},
    {"tar header invalid", "tar header invalid"},
    {"gzip header invalid", "gzip header invalid"},
    {"tar truncated", "tar truncated"},
    {"span size 0 (the reference tool crashes)", "span size 0"},
};

class Refused : public testing::TestWithParam<RefusedLayer> {};

TEST_P(Refused, SaysWhy) {
  const std::string bytes = ReadFile(SOCI_BINARY_DIR "/golden/blobs/" + GetParam().name + ".blob").value();
  const oci::Descriptor layer{.media_type = GetParam().media_type,
                              .digest = oci::Digest::Of(bytes),
                              .size = static_cast<int64_t>(bytes.size())};
  const LayerChoice choice = ChooseLayer(layer, 0);
  ASSERT_EQ(choice.outcome, LayerOutcome::kIndexed);
  const auto source = MakeMemorySource(bytes);
  const LayerIndexOptions options{.span_size = GetParam().span_size, .build_tool = std::string(oci::kBuildTool)};
  const Status status = IndexLayer(*source, layer, choice.compression, options, {}, {}).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  ASSERT_TRUE(kReasons.contains(GetParam().error)) << GetParam().error;
  EXPECT_THAT(std::string(Message(status)), testing::ContainsRegex(kReasons.at(GetParam().error)));
}

INSTANTIATE_TEST_SUITE_P(Golden, Refused, testing::ValuesIn(RefusedLayers()), [](const auto& test) {
  std::string name = test.param.name;
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

TEST(RefusedLayers, AreTheOnesOfTheRecord) { EXPECT_EQ(RefusedLayers().size(), 27u); }

}  // namespace
}  // namespace soci::golden
