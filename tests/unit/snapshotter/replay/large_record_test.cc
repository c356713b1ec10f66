// A record of 100,000 extents: what it costs grows with its length, and what is under way does not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>

#include "indexer/record/record_builder.h"
#include "snapshotter/replay/image_replay.h"
#include "tests/fakes/fake_backing_store.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_layer_table.h"
#include "tests/unit/snapshotter/replay/hand_fetcher.h"

namespace soci {
namespace {

constexpr uint64_t kExtents = 100'000;
constexpr uint64_t kFiles = 1'000;
constexpr uint64_t kFileSize = 2 * kExtents / kFiles * kRecordPage;
constexpr uint64_t kSpan = 1 << 20;
constexpr uint64_t kWindow = 24 << 20;

class CountingTable : public test::FakeLayerTable {
 public:
  SpanId SpanAt(uint64_t uncompressed) const override {
    ++lookups;
    return FakeLayerTable::SpanAt(uncompressed);
  }
  std::optional<InodeId> Lookup(InodeId folder, std::string_view name) const override {
    ++lookups;
    return FakeLayerTable::Lookup(folder, name);
  }
  mutable uint64_t lookups = 0;
};

class LargeRecordTest : public ::testing::Test {
 protected:
  LargeRecordTest() {
    for (uint64_t i = 0; i < kFiles; ++i) {
      auto& file = table_->File(std::to_string(i), "");
      file.attributes.size = kFileSize;
      file.attributes.content = {i * kFileSize, (i + 1) * kFileSize};
    }
    table_->SetSpans(kSpans, kSpan);
    table_->Number();
  }
  // Every second page of every file, once around all files before the next page of the first.
  Record MakeRecord() const {
    RecordBuilder builder(oci::Digest::Of("image"), {table_->layer()});
    for (uint64_t i = 0; i < kExtents; ++i) {
      builder.Add(table_->layer(), std::to_string(i % kFiles), kFileSize, i / kFiles * 2 * kRecordPage, kRecordPage,
                  i * 100);
    }
    return builder.Build();
  }

  static constexpr uint32_t kSpans = static_cast<uint32_t>(kFiles * kFileSize / kSpan + 1);
  std::shared_ptr<CountingTable> table_ = std::make_shared<CountingTable>();
  test::FakeBackingStore store_{kSpans};
  test::HandFetcher fetcher_;
  FakeClock clock_;
  ProgramClock program_{clock_};
};

TEST_F(LargeRecordTest, AsksForEverySpanOnceAFewAtATime) {
  const Record record = MakeRecord();
  ASSERT_EQ(record.extents.size(), kExtents);
  ImageReplay::Options options;
  options.window = kWindow;
  const auto replay = std::make_shared<ImageReplay>("image", record, clock_, program_, options);
  replay->Join({table_->layer(), table_, &store_, &fetcher_, nullptr});
  EXPECT_LE(table_->lookups, 2 * kExtents + kFiles) << "nothing is looked up for each span of each extent";
  size_t most = 0;
  while (!replay->ended()) {
    most = std::max(most, fetcher_.waiting().size());
    fetcher_.Answer(fetcher_.waiting().front());
  }
  EXPECT_LE(most * kSpan, kWindow + options.plan.step_bytes);
  const std::vector<uint32_t> asked = fetcher_.asked();
  EXPECT_EQ(std::set<uint32_t>(asked.begin(), asked.end()).size(), asked.size());
  EXPECT_EQ(replay->Report().state, "done");
  EXPECT_EQ(replay->Report().counts.spans, asked.size());
  EXPECT_EQ(replay->Report().extents, kExtents);
}

TEST_F(LargeRecordTest, ForAnotherVersionOfTheImageCostsTheLookingUpAndNoMore) {
  const auto other = std::make_shared<CountingTable>();
  other->File("something else", "");
  other->SetSpans(kSpans, kSpan);
  other->Number();
  const auto replay = std::make_shared<ImageReplay>("image", MakeRecord(), clock_, program_, ImageReplay::Options());
  replay->Join({other->layer(), other, &store_, &fetcher_, nullptr});
  EXPECT_LE(other->lookups, kFiles);
  EXPECT_EQ(fetcher_.asked().size(), 0u);
  EXPECT_EQ(replay->Report().unknown_extents, kExtents);
  EXPECT_TRUE(replay->ended());
}

}  // namespace
}  // namespace soci
