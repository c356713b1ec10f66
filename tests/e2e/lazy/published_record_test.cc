// A record that was made in a build pipeline and published beside its image, and a host that trusts such records; and
// records that are false.
#include "tests/e2e/lazy/published_record.h"

#include <gmock/gmock.h>

#include <filesystem>

namespace soci::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(PublishedRecord, IsReplayedByAHostThatNeverRanTheImage) {
  const std::string reference = PushIndexed(Image(), "app");
  MakeAndPublish(reference);
  const double misses = Value("soci_demand_misses_total");
  PullLazily(reference);
  ASSERT_TRUE(WaitUntil([&] { return daemon_.Log().find("by its published record") != std::string::npos; }))
      << Status() << daemon_.Log();
  ASSERT_TRUE(WaitUntil([&] { return Status().find("record: published, replay done") != std::string::npos; }))
      << Status() << daemon_.Log();
  EXPECT_GT(Replayed(), 5);
  Output(reference, Program());
  EXPECT_LE(Value("soci_demand_misses_total") - misses, misses / 10) << Status();
  EXPECT_GT(Value("soci_replay_needs_total{outcome=\"hit\"}"), 5);
}

TEST_F(PublishedRecord, OneThatLiesAboutFilesFetchesNothingAndHarmsNothing) {
  const TestImage image = Image();
  const std::string reference = PushIndexed(image, "app");
  Write(image, {{"app/3", uint64_t{200} << 30}, {"app/4", 79'999}, {"not/there", 4096}, {"app", 4096}}, file_);
  Publish(reference);
  PullLazily(reference);
  ASSERT_TRUE(WaitUntil([&] { return daemon_.Log().find("by its published record") != std::string::npos; }));
  EXPECT_EQ(Output(reference, {"cat", "/app/3"}), NoiseBytes(80'000, 3));
  EXPECT_EQ(Output(reference, {"cat", "/app/4"}), NoiseBytes(80'000, 4));
  EXPECT_LE(Replayed(), 0) << Status();
  EXPECT_THAT(daemon_.Log(), HasSubstr("4 extents of the record are of files that layer"));
}

TEST_F(PublishedRecord, AnotherImagesIsNoOwnOneAndIsTold) {
  const TestImage image = Image();
  const std::string reference = PushIndexed(image, "app");
  const TestImage other = TestImage().Add(GzipLayer(BusyboxTar().Finish()));
  const std::string folder = daemon_.state() + "/records/sha256";
  std::filesystem::create_directories(folder);
  Write(other, {{"app/3", 80'000}}, folder + "/" + image.digest().Hex());
  PullLazily(reference);
  EXPECT_EQ(Output(reference, {"cat", "/app/3"}), NoiseBytes(80'000, 3));
  EXPECT_THAT(daemon_.Log(), HasSubstr("is not replayed"));
  EXPECT_LE(Replayed(), 0);
}

class UntrustedRecord : public PublishedRecord {
 protected:
  UntrustedRecord() : PublishedRecord("own") {}
};

TEST_F(UntrustedRecord, IsNotEvenLookedFor) {
  const std::string reference = PushIndexed(Image(), "app");
  MakeAndPublish(reference);
  PullLazily(reference);
  Output(reference, Program());
  EXPECT_THAT(daemon_.Log(), Not(HasSubstr("published record")));
  EXPECT_LE(Replayed(), 0);
}

}  // namespace
}  // namespace soci::test
