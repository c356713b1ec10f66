#include "snapshotter/replay/record_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "indexer/record/record_builder.h"
#include "tests/support/temporary_directory.h"

namespace soci {
namespace {

using ::testing::HasSubstr;

oci::Digest Image(int number) { return oci::Digest::Of("image" + std::to_string(number)); }

Record RunOf(const oci::Digest& image, const std::string& path = "file", uint64_t size = 8192,
             const std::string& layer_name = "layer") {
  const oci::LayerDigest layer(oci::Digest::Of(layer_name));
  RecordBuilder builder(image, {layer});
  builder.Add(layer, path, size, 0, size, 0);
  return builder.Build();
}

class RecordStoreTest : public ::testing::Test {
 protected:
  void MakeOld(const std::string& path, int hours) {
    std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now() - std::chrono::hours(hours));
  }

  test::TemporaryDirectory folder_;
  const std::string records_ = folder_ / "records";
};

TEST_F(RecordStoreTest, WhatIsKeptIsThereForTheNextDaemon) {
  ASSERT_TRUE(RecordStore(records_).Merge(RunOf(Image(1))).ok());
  RecordStore store(records_);
  auto found = store.Find(Image(1));
  ASSERT_TRUE(found.ok() && found->has_value());
  EXPECT_EQ((*found)->files.at(0).path, "file");
  auto none = store.Find(Image(2));
  ASSERT_TRUE(none.ok());
  EXPECT_FALSE(none->has_value());
}

TEST_F(RecordStoreTest, RunsOfOneImageAreOneRecord) {
  RecordStore store(records_);
  ASSERT_TRUE(store.Merge(RunOf(Image(1), "one")).ok());
  auto both = store.Merge(RunOf(Image(1), "two"));
  ASSERT_TRUE(both.ok()) << both.status();
  EXPECT_EQ(both->files.size(), 2u);
  EXPECT_EQ(store.Find(Image(1)).value()->files.size(), 2u);
}

TEST_F(RecordStoreTest, ARunThatKnewOtherLayersIsMergedIn) {
  RecordStore store(records_);
  ASSERT_TRUE(store.Merge(RunOf(Image(1))).ok());
  const auto both = store.Merge(RunOf(Image(1), "file", 8192, "layer that had no index before"));
  ASSERT_TRUE(both.ok()) << both.status();
  EXPECT_EQ(both->layers.size(), 2u);
  EXPECT_EQ(store.Find(Image(1)).value()->files.size(), 2u);
}

TEST_F(RecordStoreTest, ARecordThatCannotBeMergedWithTheNewestRunGivesWayToIt) {
  RecordStore store(records_);
  ASSERT_TRUE(store.Merge(RunOf(Image(1), "lie", 4096)).ok());
  ASSERT_TRUE(store.Merge(RunOf(Image(1), "lie", 8192)).ok());
  EXPECT_EQ(store.Find(Image(1)).value(), RunOf(Image(1), "lie", 8192));
}

TEST_F(RecordStoreTest, ADamagedRecordIsToldOnceAndMadeAnew) {
  RecordStore store(records_);
  ASSERT_TRUE(store.Merge(RunOf(Image(1))).ok());
  std::ofstream(store.PathOf(Image(1))) << "rubbish";
  auto found = store.Find(Image(1));
  ASSERT_FALSE(found.ok());
  EXPECT_THAT(std::string(Message(found.status())), HasSubstr(store.PathOf(Image(1))));
  EXPECT_FALSE(store.Find(Image(1)).value().has_value());
  EXPECT_TRUE(store.Merge(RunOf(Image(1))).ok());
}

TEST_F(RecordStoreTest, ARecordUnderAnotherImagesNameIsNotItsRecord) {
  RecordStore store(records_);
  ASSERT_TRUE(store.Merge(RunOf(Image(1))).ok());
  std::filesystem::rename(store.PathOf(Image(1)), store.PathOf(Image(2)));
  EXPECT_FALSE(store.Find(Image(2)).ok());
}

TEST_F(RecordStoreTest, TheOneThatWasUsedLongestAgoGoesFirst) {
  RecordStore store(records_, /*keep=*/3);
  for (int i = 1; i <= 3; ++i) {
    ASSERT_TRUE(store.Merge(RunOf(Image(i))).ok());
    MakeOld(store.PathOf(Image(i)), 10 - i);
  }
  ASSERT_TRUE(store.Find(Image(1)).value().has_value());  // the oldest, and used again
  ASSERT_TRUE(store.Merge(RunOf(Image(4))).ok());
  EXPECT_TRUE(store.Find(Image(1)).value().has_value());
  EXPECT_FALSE(store.Find(Image(2)).value().has_value());
  EXPECT_TRUE(store.Find(Image(3)).value().has_value());
  EXPECT_TRUE(store.Find(Image(4)).value().has_value());
}

}  // namespace
}  // namespace soci
