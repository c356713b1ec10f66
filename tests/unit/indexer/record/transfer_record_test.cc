#include "indexer/record/transfer_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "indexer/record/merge_records.h"
#include "tests/unit/indexer/record/random_record.h"

namespace soci {
namespace {

using test::LayerOf;
using testing::ElementsAre;
using testing::IsEmpty;

// A rebuilt image: the first layer is the same, the second was made anew, with a third on top.
class TransferRecordTest : public testing::Test {
 protected:
  void SetUp() override {
    RecordBuilder builder(test::ImageDigest(), test::Layers(2));
    builder.Add(LayerOf(0), "bin/python", 9'000, 0, 9'000, 1'000);
    builder.Add(LayerOf(1), "app/lib.so", 50'000, 8'192, 20'000, 3'000);
    builder.Add(LayerOf(1), "app/main.py", 700, 0, 700, 7'000);
    builder.Add(LayerOf(0), "etc/hosts", 100, 0, 100, 8'000);
    old_ = builder.Build();
  }
  TransferredRecord Transfer() {
    const LayerLookup lookup = [&](const oci::LayerDigest& layer,
                                   const std::string& path) -> std::optional<LayerMember> {
      const auto found = members_.find({layer, path});
      return found == members_.end() ? std::nullopt : std::optional(found->second);
    };
    TransferredRecord transferred = TransferRecord(old_, next_, {LayerOf(0), LayerOf(8), LayerOf(9)}, lookup).value();
    EXPECT_EQ(CheckRecord(transferred.record), OkStatus());
    EXPECT_EQ(transferred.record.manifest, next_);
    return transferred;
  }
  static std::vector<std::string> Files(const Record& record) {
    std::vector<std::string> files;
    for (const RecordedExtent& extent : record.extents) {
      const RecordedFile& file = record.files[extent.file];
      files.push_back(std::to_string(file.layer) + ":" + file.path);
    }
    return files;
  }

  const oci::Digest next_ = oci::Digest::Of("next image");
  Record old_;
  std::map<std::pair<oci::LayerDigest, std::string>, LayerMember> members_;
};

TEST_F(TransferRecordTest, EqualLayersAndEqualFilesKeepTheirPlaceAndTime) {
  members_[{LayerOf(8), "app/lib.so"}] = {50'000};
  members_[{LayerOf(8), "app/main.py"}] = {701};
  const TransferredRecord next = Transfer();
  EXPECT_THAT(Files(next.record), ElementsAre("0:bin/python", "1:app/lib.so", "0:etc/hosts"));
  EXPECT_THAT(NeedTimes(next.record), ElementsAre(1'000, 3'000, 8'000));
  EXPECT_EQ(next.record.extents[1].offset, 8'192u);
  EXPECT_EQ(next.kept_bytes, 9'100u);
  EXPECT_EQ(next.moved_bytes, 20'480u);
  EXPECT_EQ(next.lost_bytes, 700u);
}

TEST_F(TransferRecordTest, TheTopmostLayerThatHasThePathDecides) {
  members_[{LayerOf(8), "app/lib.so"}] = {50'000};
  members_[{LayerOf(9), "app/lib.so"}] = {std::nullopt};  // a folder, a whiteout
  members_[{LayerOf(9), "app/main.py"}] = {700};
  EXPECT_THAT(Files(Transfer().record), ElementsAre("0:bin/python", "2:app/main.py", "0:etc/hosts"));
}

TEST_F(TransferRecordTest, OfAnImageThatHasNothingInCommonNothingIsLeft) {
  const LayerLookup nothing = [](const auto&, const auto&) { return std::nullopt; };
  const TransferredRecord next = TransferRecord(old_, next_, {LayerOf(5)}, nothing).value();
  EXPECT_THAT(next.record.extents, IsEmpty());
  EXPECT_EQ(CheckRecord(next.record), OkStatus());
}

TEST_F(TransferRecordTest, TwoOldFilesMayBecomeOneNewFile) {
  RecordBuilder builder(test::ImageDigest(), test::Layers(2));
  builder.Add(LayerOf(0), "a", 50'000, 0, 20'000, 0);
  builder.Add(LayerOf(1), "a", 50'000, 8'192, 30'000, 500);
  old_ = builder.Build();
  const LayerLookup one = [](const auto& layer, const auto&) {
    return layer == LayerOf(9) ? std::optional(LayerMember{50'000}) : std::nullopt;
  };
  const TransferredRecord next = TransferRecord(old_, next_, {LayerOf(9)}, one).value();
  EXPECT_EQ(CheckRecord(next.record), OkStatus());
  EXPECT_THAT(NeedTimes(next.record), ElementsAre(0, 500));
}

TEST_F(TransferRecordTest, RunsStayTheRunsTheyAre) {
  members_[{LayerOf(8), "app/lib.so"}] = {50'000};
  const Record once = Transfer().record;
  const Record again = Transfer().record;
  EXPECT_EQ(once, again);
  EXPECT_EQ(once.runs.size(), 1u);
  EXPECT_EQ(MergeRecords({once, again}).value(), once);
}

TEST_F(TransferRecordTest, WhatSomeRunsNeedStaysBehindWhatAllNeed) {
  RecordBuilder builder(test::ImageDigest(), test::Layers(2));
  builder.Add(LayerOf(1), "app/other", 300, 0, 300, 100);
  builder.Add(LayerOf(0), "bin/python", 9'000, 0, 9'000, 5'000);
  old_ = MergeRecords({old_, builder.Build()}).value();
  members_[{LayerOf(8), "app/other"}] = {300};
  EXPECT_THAT(Files(Transfer().record), ElementsAre("0:bin/python", "1:app/other", "0:etc/hosts"));
}

}  // namespace
}  // namespace soci
