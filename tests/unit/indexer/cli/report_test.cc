#include <gtest/gtest.h>

#include "indexer/cli/create_report.h"
#include "indexer/cli/exit_code.h"
#include "indexer/cli/format.h"
#include "indexer/cli/progress.h"

namespace soci::cli {
namespace {

CreateReport WithLayers(std::vector<LayerOutcome> outcomes) {
  CreateReport report{.target = "oci:x"};
  ImageReport image{.platform = {}, .image = {}, .layers = {}};
  for (LayerOutcome outcome : outcomes) image.layers.push_back({.layer = {}, .outcome = outcome, .reason = "why"});
  report.images.push_back(image);
  return report;
}

TEST(CodeOf, TellsAllSomeAndNone) {
  using enum LayerOutcome;
  EXPECT_EQ(CodeOf(WithLayers({kIndexed, kIndexed})), ExitCode::kDone);
  EXPECT_EQ(CodeOf(WithLayers({kIndexed, kSmall, kIgnored})), ExitCode::kDone);
  EXPECT_EQ(CodeOf(WithLayers({kIndexed, kUnsupported})), ExitCode::kPartDone);
  EXPECT_EQ(CodeOf(WithLayers({kIndexed, kRefused})), ExitCode::kPartDone);
  EXPECT_EQ(CodeOf(WithLayers({kSmall, kUnsupported})), ExitCode::kNothingToIndex);
  EXPECT_EQ(CodeOf(WithLayers({kSmall, kRefused})), ExitCode::kBadData);
  EXPECT_EQ(CodeOf(WithLayers({})), ExitCode::kNothingToIndex);
  CreateReport absent = WithLayers({kIndexed});
  absent.absent.push_back({"linux/arm64", absl::NotFoundError("gone")});
  EXPECT_EQ(CodeOf(absent), ExitCode::kPartDone);
}

TEST(ToJson, HasAReasonForEverySkippedLayer) {
  EXPECT_EQ(ToJson(WithLayers({LayerOutcome::kRefused})),
            R"({"target":"oci:x","result":"none","platforms":[{"platform":"/","image":"sha256:)" +
                std::string(64, '0') + R"(","layers":[{"digest":"sha256:)" + std::string(64, '0') +
                R"(","media_type":"","size":0,"outcome":"refused","reason":"why"}]}],"absent":[]})" + "\n");
}

TEST(Remarks, NameALayerThatIsOneLargeBlock) {
  CreateReport report = WithLayers({LayerOutcome::kIndexed});
  report.images[0].index = oci::Descriptor{};
  report.images[0].layers[0].largest_span = uint64_t{256} << 20;
  EXPECT_EQ(Remarks(report), "");
  report.images[0].layers[0].largest_span += 1 << 20;
  EXPECT_EQ(Remarks(report),
            "layer sha256:000000000000: its compressor made one block of 257.0 MiB; it will be unpacked, not loaded "
            "lazily\n");
}

TEST(ExitCodeOf, FollowsTheKindOfTheFault) {
  EXPECT_EQ(ExitCodeOf(absl::NotFoundError("")), ExitCode::kNotFound);
  EXPECT_EQ(ExitCodeOf(absl::UnauthenticatedError("")), ExitCode::kAuthentication);
  EXPECT_EQ(ExitCodeOf(absl::PermissionDeniedError("")), ExitCode::kAuthentication);
  EXPECT_EQ(ExitCodeOf(ErrnoStatus(EACCES, "file")), ExitCode::kFailed);
  EXPECT_EQ(ExitCodeOf(absl::UnavailableError("")), ExitCode::kNetwork);
  EXPECT_EQ(ExitCodeOf(absl::DeadlineExceededError("")), ExitCode::kNetwork);
  EXPECT_EQ(ExitCodeOf(absl::DataLossError("")), ExitCode::kBadData);
  EXPECT_EQ(ExitCodeOf(absl::InvalidArgumentError("")), ExitCode::kBadData);
  EXPECT_EQ(ExitCodeOf(absl::InternalError("")), ExitCode::kFailed);
}

TEST(HumanSize, UsesTheLargestUnitBelowTheNumber) {
  EXPECT_EQ(HumanSize(1023), "1023 B");
  EXPECT_EQ(HumanSize(1536), "1.5 KiB");
  EXPECT_EQ(HumanSize(uint64_t{5} << 30), "5.0 GiB");
}

TEST(Table, AlignsColumnsAndLeavesNoBlanksAtTheEnd) {
  EXPECT_EQ(Table({{"a", "b", "c"}, {"long", "1", ""}}, {1}), "a     b  c\nlong  1\n");
}

TEST(RenderBar, FitsTheWidth) {
  EXPECT_EQ(RenderBar("x", 50, 100, 200),
            "x [" + std::string(20, '#') + std::string(20, ' ') + "]  50%  50 B of 100 B");
  EXPECT_EQ(RenderBar("x", 0, 0, 200).find("100%") != std::string::npos, true);
  for (size_t width : {0u, 1u, 10u, 20u, 40u, 80u, 200u}) {
    EXPECT_LT(RenderBar("sha256:0123456789ab", 1 << 20, 3 << 20, width).size(), std::max<size_t>(width, 1)) << width;
  }
}

}  // namespace
}  // namespace soci::cli
