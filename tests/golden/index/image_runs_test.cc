// Byte for byte: the index of every golden image is the one that the reference tool makes of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "indexer/base/file_io.h"
#include "indexer/content/oci_layout.h"
#include "indexer/content/read_blob.h"
#include "indexer/index/image_indexer.h"
#include "indexer/index/layout_home.h"
#include "indexer/oci/platform.h"
#include "tests/support/temporary_directory.h"

namespace soci::golden {
namespace {

struct Run {
  std::string image;
  std::string name;
  CreateOptions options = {};
  std::vector<oci::Platform> platforms = {};
  std::map<std::string, std::string> indexes = {};  // subject -> digest; empty if the tool fails
  std::string error = {};
};

void PrintTo(const Run& run, std::ostream* out) { *out << run.image << " " << run.name; }

// The reference tool's arguments, as ours.
void ApplyArguments(const nlohmann::json& arguments, Run& run) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string name = arguments[i];
    auto value = [&] { return arguments[++i].get<std::string>(); };
    if (name == "--span-size") run.options.span_size = std::stoull(value());
    if (name == "--min-layer-size") run.options.min_layer_size = std::stoull(value());
    if (name == "--platform") run.platforms.push_back(oci::ParsePlatform(value()).value());
    if (name == "--prefetch-file") run.options.prefetch_paths.push_back(CleanPath(value()));
    if (name == "--optimizations") run.options.mark_layers_without_xattrs = value() == "xattr";
    if (name == "--all-platforms") return;
  }
  // The host, an amd64 machine, is the reference tool's default for lists.
  if (run.platforms.empty() && run.image == "i03-multi-platform") {
    run.platforms = {oci::ParsePlatform("linux/amd64").value()};
  }
}

const std::vector<Run>& Runs() {
  static const std::vector<Run> runs = [] {
    std::ifstream file(SOCI_SOURCE_DIR "/tests/golden/expected.json");
    std::vector<Run> all;
    const nlohmann::json expected = nlohmann::json::parse(file);
    for (const auto& [image, entry] : expected.at("images").items()) {
      for (const auto& [name, recorded] : entry.at("runs").items()) {
        Run run{.image = image, .name = name};
        ApplyArguments(recorded.at("args"), run);
        const nlohmann::json v1 = recorded.value("v1", nlohmann::json());
        if (v1.is_object()) run.error = v1.at("error");
        if (v1.is_array()) {
          for (const auto& index : v1) run.indexes[index.at("subject")] = index.at("digest");
        }
        if (!v1.is_null()) all.push_back(run);
      }
    }
    return all;
  }();
  return runs;
}

std::vector<Run> RunsWhere(bool accepted) {
  std::vector<Run> some;
  for (const Run& run : Runs()) {
    if (run.error.empty() == accepted) some.push_back(run);
  }
  return some;
}

std::string TestName(const testing::TestParamInfo<Run>& info) {
  std::string name = info.param.image + "_" + info.param.name;
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

class Silent : public LayerProgress {
  void OnStart(const oci::Descriptor&) override {}
  void OnBytes(const oci::Descriptor&, uint64_t) override {}
  void OnEnd(const oci::Descriptor&, LayerOutcome, const std::string&) override {}
};

// A copy of a golden image, and what we make of it.
class ImageRun : public testing::TestWithParam<Run> {
 protected:
  void SetUp() override {
    const std::string source = SOCI_BINARY_DIR "/golden/images/" + GetParam().image;
    std::filesystem::copy(source, copy(), std::filesystem::copy_options::recursive);
  }
  std::string copy() const { return directory / "image"; }

  Result<std::vector<ImageReport>> Create() {
    SOCI_ASSIGN_OR_RETURN(std::unique_ptr<OciLayout> layout, OciLayout::Open(copy()));
    auto home = MakeLayoutHome(std::move(layout), {});
    SOCI_ASSIGN_OR_RETURN(SelectedImages selected, SelectPlatforms(*home, GetParam().platforms, {}));
    Silent progress;
    ImageIndexer indexer(*home, GetParam().options, progress);
    std::vector<ImageReport> reports;
    for (const PlatformImage& image : selected.images) {
      SOCI_ASSIGN_OR_RETURN(ImageReport report, indexer.Index(image, {}));
      reports.push_back(std::move(report));
    }
    return reports;
  }

  std::map<std::string, std::string> Indexes(const std::vector<ImageReport>& reports) {
    std::map<std::string, std::string> indexes;
    for (const ImageReport& report : reports) {
      for (const LayerReport& layer : report.layers) {
        if (layer.outcome != LayerOutcome::kIndexed) skipped += layer.reason + "\n";
      }
      if (report.index) indexes[report.image.digest.ToString()] = report.index->digest.ToString();
    }
    return indexes;
  }

  test::TemporaryDirectory directory;
  std::string skipped;
};

class AcceptedImage : public ImageRun {};

TEST_P(AcceptedImage, GetsTheIndexThatTheReferenceToolMakes) {
  Result<std::vector<ImageReport>> reports = Create();
  ASSERT_TRUE(reports.ok()) << reports.status();
  EXPECT_EQ(Indexes(*reports), GetParam().indexes) << skipped;
  auto layout = OciLayout::Open(copy()).value();
  for (const ImageReport& report : *reports) {
    // It is found again, and all it lists is there.
    const auto referrers = layout->FindReferrers(report.image.digest, oci::kMediaTypeSociIndexV1).value();
    ASSERT_EQ(referrers.size(), 1u);
    EXPECT_EQ(referrers[0].digest, report.index->digest);
    const oci::Manifest index = oci::Manifest::Parse(ReadBlob(*layout, referrers[0]).value()).value();
    EXPECT_TRUE(ReadBlob(*layout, index.config).ok());
    for (const oci::Descriptor& artifact : index.layers) EXPECT_TRUE(ReadBlob(*layout, artifact, 1 << 30).ok());
  }
}

TEST_P(AcceptedImage, GetsTheSameIndexAgainAndNothingIsListedTwice) {
  ASSERT_TRUE(Create().ok());
  const std::string before = ReadFile(copy() + "/index.json").value();
  Result<std::vector<ImageReport>> again = Create();
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(Indexes(*again), GetParam().indexes);
  EXPECT_EQ(ReadFile(copy() + "/index.json").value(), before);
}

INSTANTIATE_TEST_SUITE_P(Golden, AcceptedImage, testing::ValuesIn(RunsWhere(true)), TestName);

class RefusedImage : public ImageRun {};

// What makes the reference tool give up on the whole image costs us one layer or one platform.
TEST_P(RefusedImage, LosesOnlyWhatCannotBeIndexed) {
  using testing::HasSubstr;
  Result<std::vector<ImageReport>> reports = Create();
  const std::string name = GetParam().image + " " + GetParam().name;
  if (name == "i03-multi-platform missing-platform") {
    EXPECT_TRUE(absl::IsNotFound(reports.status()));
    return;
  }
  ASSERT_TRUE(reports.ok()) << reports.status();
  const size_t indexed = Indexes(*reports).size();
  if (name == "i08-all-small default") {
    EXPECT_EQ(indexed, 0u);
    EXPECT_THAT(skipped, HasSubstr("are less than the minimum"));
  } else if (name == "i10-partial-list all") {
    EXPECT_EQ(indexed, 2u);
  } else if (name == "i12-one-bad-layer default") {
    EXPECT_EQ(indexed, 1u);
    EXPECT_THAT(skipped, HasSubstr("global"));
  } else if (name == "i13-foreign-blob default") {
    EXPECT_EQ(indexed, 1u);
    EXPECT_THAT(skipped, HasSubstr("is not a layer"));
  } else if (name == "i15-no-platform amd64") {
    EXPECT_EQ(indexed, 1u);
  } else {
    FAIL() << "what should become of " << name << "?";
  }
}

INSTANTIATE_TEST_SUITE_P(Golden, RefusedImage, testing::ValuesIn(RunsWhere(false)), TestName);

TEST(GoldenImages, CoverEveryRunOfVersion1) { EXPECT_EQ(RunsWhere(true).size(), 18u); }

}  // namespace
}  // namespace soci::golden
