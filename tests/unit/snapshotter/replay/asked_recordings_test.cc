#include "snapshotter/replay/asked_recordings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "fuse/layer/first_reads.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_layer_table.h"

namespace soci {
namespace {

using std::chrono::seconds;

const oci::LayerDigest kLayer(oci::Digest::Of("layer"));
const oci::Digest kImage = oci::Digest::Of("image");

class AskedRecordingsTest : public ::testing::Test {
 protected:
  AskedRecordingsTest() {
    table_->SetLayer(kLayer);
    auto& file = table_->File("file", "");
    file.attributes.size = 10 << 20;
    file.attributes.content = {0, 10 << 20};
    table_->SetSpans(10, 1 << 20);
    table_->Number();
    automatic_ = std::make_unique<FirstReads>(table_);
    own_ = std::make_unique<FirstReads>(table_);
  }
  std::string Ask() { return asked_.Ask({"image", kImage, seconds(3), 1 << 20}); }
  Status Begin(const std::string& name) {
    if (Status claimed = asked_.Claim(name); !claimed.ok()) return claimed;
    return asked_.Begin(name, {kLayer}, {Watched(*own_)});
  }
  WatchedLayer Watched(FirstReads& reads) const { return {kLayer, table_, nullptr, nullptr, &reads}; }
  static void Read(FirstReads& reads, uint64_t offset, uint64_t size = kRecordPage) {
    reads.OnRead({InodeId{2}, offset, {offset, offset + size}, false});
  }
  void Pass(seconds time) {
    clock_.Advance(time);
    recorder_.Tick();
  }
  bool IsOver(const std::string& name) {
    return asked_.ProgressOf(name).value().state == RecordingProgress::State::kOver;
  }

  FakeClock clock_;
  ProgramClock program_{clock_};
  std::shared_ptr<test::FakeLayerTable> table_ = std::make_shared<test::FakeLayerTable>();
  std::unique_ptr<FirstReads> automatic_, own_;
  size_t automatic_records_ = 0;
  AskedRecordings asked_{recorder_};
  Recorder recorder_{program_, {}, [this](const std::string&, const Record&) { ++automatic_records_; }};
};

TEST_F(AskedRecordingsTest, EndsByItsOwnSilenceAndGoesToWhoeverAsked) {
  const std::string name = Ask();
  ASSERT_TRUE(Begin(name).ok());
  Read(*own_, 0);
  Pass(seconds(2));
  EXPECT_FALSE(IsOver(name));
  Pass(seconds(2));
  ASSERT_TRUE(IsOver(name));
  EXPECT_EQ(asked_.ProgressOf(name)->end, RunEnd::kQuiet);
  const auto taken = asked_.Take(name);
  ASSERT_TRUE(taken.ok());
  EXPECT_EQ(taken->record.manifest, kImage);
  EXPECT_EQ(taken->record.extents.size(), 1u);
  EXPECT_EQ(automatic_records_, 0u);
  EXPECT_TRUE(absl::IsNotFound(asked_.Take(name).status()));
}

TEST_F(AskedRecordingsTest, EndsAtItsOwnSize) {
  const std::string name = Ask();
  ASSERT_TRUE(Begin(name).ok());
  Read(*own_, 0, 2 << 20);
  recorder_.Tick();
  ASSERT_TRUE(IsOver(name));
  EXPECT_EQ(asked_.ProgressOf(name)->end, RunEnd::kFull);
}

TEST_F(AskedRecordingsTest, GoesBesideTheAutomaticOneAndHearsOnlyOfItsOwnContainer) {
  recorder_.Start({"image", kImage, {kLayer}}, {Watched(*automatic_)});
  const std::string name = Ask();
  ASSERT_TRUE(Begin(name).ok());
  recorder_.LayerOpened(Watched(*automatic_));
  Read(*automatic_, 1 << 20);
  Read(*own_, 0);
  const auto taken = asked_.Take(name);
  ASSERT_TRUE(taken.ok());
  ASSERT_EQ(taken->record.extents.size(), 1u);
  EXPECT_EQ(taken->record.extents[0].offset, 0u);
  EXPECT_TRUE(recorder_.IsRecording(kImage));
  recorder_.Finish(std::nullopt);
  EXPECT_EQ(automatic_records_, 1u);
}

TEST_F(AskedRecordingsTest, StopEndsItAndItCanStillBeTaken) {
  const std::string name = Ask();
  ASSERT_TRUE(Begin(name).ok());
  Read(*own_, 0);
  EXPECT_EQ(recorder_.Finish(std::nullopt), 1u);
  ASSERT_TRUE(IsOver(name));
  EXPECT_TRUE(asked_.Take(name).ok());
}

TEST_F(AskedRecordingsTest, HasOneContainerAndMustBeAskedFor) {
  EXPECT_TRUE(absl::IsNotFound(Begin("unknown")));
  const std::string name = Ask();
  EXPECT_TRUE(Begin(name).ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(Begin(name)));
}

TEST_F(AskedRecordingsTest, NothingThatWasReadIsNoRecord) {
  const std::string unused = Ask();
  EXPECT_TRUE(absl::IsFailedPrecondition(asked_.Take(unused).status()));
  const std::string name = Ask();
  ASSERT_TRUE(Begin(name).ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(asked_.Take(name).status()));
}

TEST_F(AskedRecordingsTest, OnlyTheLastOnesAreRememberedAndNoneGoesOnForgotten) {
  const std::string first = Ask();
  ASSERT_TRUE(Begin(first).ok());
  for (int i = 0; i < 16; ++i) Ask();
  EXPECT_TRUE(absl::IsNotFound(asked_.ProgressOf(first).status()));
  EXPECT_TRUE(recorder_.idle());
}

}  // namespace
}  // namespace soci
