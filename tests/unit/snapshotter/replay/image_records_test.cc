#include "snapshotter/replay/image_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "indexer/record/record_builder.h"
#include "tests/fakes/fake_backing_store.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_layer_table.h"
#include "tests/support/temporary_directory.h"
#include "tests/unit/snapshotter/replay/hand_fetcher.h"

namespace soci {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr uint64_t kSpan = 1 << 20;

class ImageRecordsTest : public ::testing::Test {
 protected:
  ImageRecordsTest() {
    auto& file = table_->File("f", "");
    file.attributes.size = 4 * kSpan;
    file.attributes.content = {0, 4 * kSpan};
    table_->SetSpans(4, kSpan);
    table_->Number();
    options_.find_published = [this](const oci::Reference&, const oci::Digest& manifest, const std::stop_token&) {
      ++searches_;
      RecordBuilder builder(manifest, {table_->layer(), oci::LayerDigest(oci::Digest::Of("elsewhere"))});
      builder.Add(table_->layer(), "f", 4 * kSpan, kSpan, 4096, 0);
      builder.Add(oci::LayerDigest(oci::Digest::Of("elsewhere")), "f", 4096, 0, 4096, 0);
      return Result<std::optional<Record>>(builder.Build());
    };
  }
  void Start() { records_ = std::make_unique<ImageRecords>(folder_.path(), clock_, program_, options_); }
  // As the pull of an image does, and until its record was looked for.
  void Want(const std::string& image) {
    records_->Want(Image(image), oci::Digest::Of(image));
    while (Looking()) std::this_thread::yield();
  }
  bool Looking() const {
    for (const ReplayReport& report : records_->Reports()) {
      if (report.state == "looking") return true;
    }
    return false;
  }
  ReplayReport ReportOf(const std::string& image) const {
    for (const ReplayReport& report : records_->Reports()) {
      if (report.manifest == oci::Digest::Of(image)) return report;
    }
    return {};
  }
  static oci::Reference Image(const std::string& name) {
    return oci::Reference::Parse("host.example/" + name + ":v1").value();
  }
  WatchedLayer Layer() { return {table_->layer(), table_, &store_, &fetcher_, nullptr}; }

  test::TemporaryDirectory folder_;
  FakeClock clock_;
  ProgramClock program_{clock_};
  std::shared_ptr<test::FakeLayerTable> table_ = std::make_shared<test::FakeLayerTable>();
  test::FakeBackingStore store_{4};
  test::HandFetcher fetcher_;
  std::atomic<int> searches_ = 0;
  ImageRecords::Options options_;
  std::unique_ptr<ImageRecords> records_;
};

TEST_F(ImageRecordsTest, TheRecordOfAnImageWhoseLayersNeverCameIsDroppedAndLookedUpAgain) {
  Start();
  Want("app");
  Want("app");
  EXPECT_EQ(searches_, 1);
  clock_.Advance(options_.remember_no);
  Want("other");
  EXPECT_EQ(ReportOf("app").state, "none");
  EXPECT_EQ(ReportOf("app").source, RecordSource::kNone);
  EXPECT_EQ(ReportOf("other").source, RecordSource::kPublished);
  Want("app");
  EXPECT_EQ(ReportOf("app").source, RecordSource::kPublished);
  EXPECT_EQ(searches_, 3);
  EXPECT_EQ(records_->totals().replays_started, 3u) << "those that were forgotten count on";
}

TEST_F(ImageRecordsTest, WhyARecordWasRefusedIsToldUntilTheNextOneIsFound) {
  options_.find_published = [](const oci::Reference&, const oci::Digest&, const std::stop_token&) {
    return Result<std::optional<Record>>(absl::InvalidArgumentError("it lies"));
  };
  Start();
  Want("app");
  clock_.Advance(10 * options_.remember_no);
  Want("other");
  EXPECT_EQ(ReportOf("app").reason, "it lies");
}

TEST_F(ImageRecordsTest, OnlySoManyImagesAreRememberedOfWhichNoLayerCame) {
  Start();
  for (int i = 0; i < 400; ++i) {
    Want(std::to_string(i));
    clock_.Advance(std::chrono::seconds(1));
  }
  EXPECT_LE(records_->Reports().size(), 260u);
  EXPECT_EQ(ReportOf("399").source, RecordSource::kPublished);
  EXPECT_EQ(records_->totals().replays_started, 400u);
}

TEST_F(ImageRecordsTest, AnImageWithLayersIsRemembered) {
  Start();
  Want("app");
  records_->LayerOpened(Layer());
  clock_.Advance(10 * options_.remember_no);
  Want("other");
  Want("app");
  EXPECT_EQ(searches_, 2);
  EXPECT_THAT(fetcher_.asked(), ElementsAre(1, 1)) << "once for each image";
}

TEST_F(ImageRecordsTest, ALayerThatIsToldTwiceIsReplayedOnce) {
  Start();
  Want("app");
  records_->LayerOpened(Layer());
  records_->LayerOpened(Layer());
  EXPECT_THAT(fetcher_.asked(), ElementsAre(1));
  EXPECT_EQ(records_->Reports().front().counts.spans, 1u);
}

TEST_F(ImageRecordsTest, ReportsTellWhatTheRecordSaysOfLayersThatAreNotHere) {
  Start();
  Want("app");
  EXPECT_EQ(records_->Reports().front().unused_extents, 2u);
  records_->LayerOpened(Layer());
  EXPECT_EQ(records_->Reports().front().unused_extents, 1u);
  EXPECT_EQ(records_->Reports().front().unknown_extents, 0u);
  EXPECT_EQ(records_->Reports().front().extents, 2u);
}

TEST_F(ImageRecordsTest, ALayerThatComesAgainDoesNotCountItsUnknownFilesTwice) {
  options_.find_published = [this](const oci::Reference&, const oci::Digest& manifest, const std::stop_token&) {
    RecordBuilder builder(manifest, {table_->layer(), oci::LayerDigest(oci::Digest::Of("lower"))});
    builder.Add(table_->layer(), "not there", 4096, 0, 4096, 0);
    return Result<std::optional<Record>>(builder.Build());
  };
  Start();
  Want("app");
  const auto lower = std::make_shared<test::FakeLayerTable>();
  lower->SetLayer(oci::LayerDigest(oci::Digest::Of("lower")));
  lower->Number();
  records_->LayerOpened({lower->layer(), lower, &store_, &fetcher_, nullptr});
  for (int i = 0; i < 3; ++i) {
    records_->LayerOpened(Layer());
    EXPECT_EQ(records_->Reports().front().unknown_extents, 1u);
    records_->LayerClosing(Layer().layer);
  }
}

TEST_F(ImageRecordsTest, AfterStopNothingIsLookedForOrReplayed) {
  Start();
  Want("app");
  records_->Stop();
  records_->LayerOpened(Layer());
  records_->Want(Image("other"), oci::Digest::Of("other"));
  EXPECT_EQ(searches_, 1);
  EXPECT_THAT(fetcher_.asked(), IsEmpty());
}

}  // namespace
}  // namespace soci
