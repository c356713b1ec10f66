#include "indexer/record/record_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace soci {
namespace {

using ::testing::ElementsAre;

const oci::LayerDigest kLayer{oci::Digest::Of("layer")};

RecordBuilder Builder(size_t most = kMostRecordExtents) {
  return RecordBuilder(oci::Digest::Of("image"), {kLayer, kLayer}, most);
}

TEST(RecordBuilder, PartsBecomeWholePagesThatEndWithTheFile) {
  RecordBuilder builder = Builder();
  builder.Add(kLayer, "f", 9000, 8200, 5000, 0);
  EXPECT_THAT(builder.Build().extents, ElementsAre(RecordedExtent{0, 8192, 808, 0}));
}

TEST(RecordBuilder, WhatIsReadInOrderIsOneExtent) {
  RecordBuilder builder = Builder();
  for (uint64_t i = 0; i < 10; ++i) builder.Add(kLayer, "f", 1 << 20, i * 4096, 4096, i * 1000);
  EXPECT_THAT(builder.Build().extents, ElementsAre(RecordedExtent{0, 0, 40960, 0}));
}

TEST(RecordBuilder, NoByteIsThereTwice) {
  RecordBuilder builder = Builder();
  builder.Add(kLayer, "f", 1 << 20, 8192, 4096, 0);
  builder.Add(kLayer, "f", 1 << 20, 0, 20'480, 1000);
  builder.Add(kLayer, "f", 1 << 20, 4096, 4096, 2000);
  const Record record = builder.Build();
  EXPECT_THAT(record.extents, ElementsAre(RecordedExtent{0, 8192, 4096, 0}, RecordedExtent{0, 0, 8192, 1000},
                                          RecordedExtent{0, 12'288, 8192, 0}));
  EXPECT_TRUE(CheckRecord(record).ok());
}

TEST(RecordBuilder, ThinkTimeIsSinceTheExtentBefore) {
  RecordBuilder builder = Builder();
  builder.Add(kLayer, "a", 4096, 0, 1, 1'000);
  builder.Add(kLayer, "b", 4096, 0, 1, 1'050);  // less than a step: it counts with the next
  builder.Add(kLayer, "c", 4096, 0, 1, 1'900);
  const Record record = builder.Build();
  EXPECT_EQ(record.extents[0].think_us, 1'000u);
  EXPECT_EQ(record.extents[1].think_us, 0u);
  EXPECT_EQ(record.extents[2].think_us, 900u);
}

TEST(RecordBuilder, WhatCannotBePartOfARecordIsLeftOut) {
  RecordBuilder builder = Builder();
  builder.Add(oci::LayerDigest(oci::Digest::Of("another")), "f", 4096, 0, 1, 0);
  builder.Add(kLayer, "f", 4096, 4096, 1, 0);
  builder.Add(kLayer, "f", 4096, 0, 0, 0);
  builder.Add(kLayer, "", 4096, 0, 1, 0);
  const Record record = builder.Build();
  EXPECT_TRUE(record.extents.empty());
  EXPECT_TRUE(record.files.empty());
}

TEST(RecordBuilder, ItStopsWhenItIsFull) {
  RecordBuilder builder = Builder(3);
  for (uint64_t i = 0; i < 10; ++i) builder.Add(kLayer, "f" + std::to_string(i), 4096, 0, 1, i);
  EXPECT_TRUE(builder.full());
  const Record record = builder.Build();
  EXPECT_EQ(record.extents.size(), 3u);
  EXPECT_EQ(record.files.size(), 3u);
  EXPECT_TRUE(CheckRecord(record).ok());
}

TEST(RecordBuilder, AnotherRecordIsAppendedInItsOrder) {
  RecordBuilder other = Builder();
  other.Add(kLayer, "late", 4096, 0, 1, 500);
  other.Add(kLayer, "early", 4096, 0, 1, 900);
  RecordBuilder builder = Builder();
  builder.Add(kLayer, "early", 4096, 0, 1, 100);
  builder.Append(other.Build());
  const Record record = builder.Build();
  ASSERT_EQ(record.extents.size(), 2u);
  EXPECT_EQ(record.files[record.extents[0].file].path, "early");
  EXPECT_EQ(record.files[record.extents[1].file].path, "late");
  EXPECT_TRUE(CheckRecord(record).ok());
}

}  // namespace
}  // namespace soci
