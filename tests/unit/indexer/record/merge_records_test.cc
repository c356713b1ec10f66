#include "indexer/record/merge_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <tuple>

#include "indexer/record/record_codec.h"
#include "tests/unit/indexer/record/random_record.h"

namespace soci {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Everything about a record but the order of what is needed at one time: page -> when, and by which runs.
using Pages = std::map<std::tuple<oci::LayerDigest, std::string, uint64_t>, std::pair<uint64_t, uint64_t>>;
Pages PagesOf(const Record& record) {
  Pages pages;
  const std::vector<uint64_t> times = NeedTimes(record);
  for (size_t i = 0; i < record.extents.size(); ++i) {
    const RecordedExtent& extent = record.extents[i];
    const RecordedFile& file = record.files[extent.file];
    for (uint64_t at = extent.offset; at < extent.end(); at += kRecordPage) {
      pages[{record.layers[file.layer], file.path, at}] = {times[i], extent.runs};
    }
  }
  return pages;
}

// The same, but only whether all runs need it.
Pages NeededByAll(const Record& record) {
  Pages pages = PagesOf(record);
  const uint64_t all = (uint64_t{1} << record.runs.size()) - 1;
  for (auto& [page, need] : pages) need.second = need.second == all ? 1 : 0;
  return pages;
}

std::vector<std::string> Paths(const Record& record) {
  std::vector<std::string> paths;
  for (const RecordedExtent& extent : record.extents) paths.push_back(record.files[extent.file].path);
  return paths;
}

Record RunOf(const std::vector<std::pair<std::string, uint64_t>>& reads) {
  RecordBuilder builder(test::ImageDigest(), test::Layers(1));
  for (const auto& [path, at_us] : reads) builder.Add(test::LayerOf(0), path, 5'000, 0, 5'000, at_us);
  return builder.Build();
}

TEST(MergeRecords, WhatAllRunsNeedComesFirstThenWhatSomeNeedBothInOrderOfNeed) {
  const Record one = RunOf({{"python", 0}, {"train", 1'000}, {"torch", 9'000}});
  const Record other = RunOf({{"python", 0}, {"serve", 500}, {"torch", 4'000}});
  const Record merged = MergeRecords({one, other}).value();
  EXPECT_THAT(Paths(merged), ElementsAre("python", "torch", "serve", "train"));
  EXPECT_THAT(NeedTimes(merged), ElementsAre(0, 4'000, 500, 1'000));
  EXPECT_EQ(merged.runs.size(), 2u);
  EXPECT_EQ(CheckRecord(merged), OkStatus());
}

TEST(MergeRecords, OfOneRunIsThatRun) {
  const Record one = test::RandomRun(1);
  EXPECT_EQ(MergeRecords({one}).value(), one);
  EXPECT_EQ(MergeRecords({one, one, one}).value(), one);
}

TEST(MergeRecords, WhatIsNeededAtOneTimeStaysInTheOrderOfTheFirst) {
  const Record one = RunOf({{"z", 0}, {"m", 0}, {"a", 0}}), other = RunOf({{"b", 0}, {"a", 0}});
  EXPECT_THAT(Paths(MergeRecords({one, other}).value()), ElementsAre("a", "z", "m", "b"));
  EXPECT_THAT(Paths(MergeRecords({other, one}).value()), ElementsAre("a", "b", "z", "m"));
}

TEST(MergeRecords, IsSoundIdempotentAndDoesNotDependOnPairsOrOrder) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    const Record a = test::RandomRun(4 * seed), b = test::RandomRun(4 * seed + 1), c = test::RandomRun(4 * seed + 2);
    const Record all = MergeRecords({a, b, c}).value();
    ASSERT_EQ(CheckRecord(all), OkStatus());
    const Record left = MergeRecords({MergeRecords({a, b}).value(), c}).value();
    const Record right = MergeRecords({a, MergeRecords({b, c}).value()}).value();
    const Record turned = MergeRecords({c, a, b}).value();
    for (const Record* other : {&left, &right, &turned}) {
      ASSERT_EQ(CheckRecord(*other), OkStatus());
      ASSERT_EQ(other->runs, all.runs);
      ASSERT_EQ(PagesOf(*other), PagesOf(all));
    }
    // Whatever is merged in a second time is there already.
    ASSERT_EQ(PagesOf(MergeRecords({all, b}).value()), PagesOf(all));
    ASSERT_EQ(PagesOf(MergeRecords({left, right, a}).value()), PagesOf(all));
    ASSERT_EQ(DecodeRecord(EncodeRecord(all).value()).value(), all);
  }
}

TEST(MergeRecords, EveryPageOfARunIsInItWithItsFirstTime) {
  for (uint32_t seed = 0; seed < 100; ++seed) {
    const Record a = test::RandomRun(2 * seed), b = test::RandomRun(2 * seed + 1);
    const Pages merged = PagesOf(MergeRecords({a, b}).value()), of_a = PagesOf(a), of_b = PagesOf(b);
    for (const auto& [page, need] : merged) {
      const auto in_a = of_a.find(page), in_b = of_b.find(page);
      uint64_t first = UINT64_MAX;
      if (in_a != of_a.end()) first = in_a->second.first;
      if (in_b != of_b.end()) first = std::min(first, in_b->second.first);
      ASSERT_EQ(need.first, first) << seed;
      ASSERT_EQ(need.second == 3, in_a != of_a.end() && in_b != of_b.end()) << seed;
    }
    for (const auto& [page, need] : of_a) ASSERT_TRUE(merged.contains(page));
    for (const auto& [page, need] : of_b) ASSERT_TRUE(merged.contains(page));
  }
}

TEST(MergeRecords, OfVeryManyRunsASampleIsKeptThatDoesNotDependOnTheOrder) {
  std::vector<Record> runs;
  for (uint32_t seed = 0; seed < 100; ++seed) runs.push_back(test::RandomRun(1'000 + seed, 5));
  const Record at_once = MergeRecords(runs).value();
  EXPECT_EQ(at_once.runs.size(), kMostRecordRuns);
  EXPECT_EQ(CheckRecord(at_once), OkStatus());
  Record one_by_one = runs.back();
  for (size_t i = runs.size() - 1; i-- > 0;) one_by_one = MergeRecords({one_by_one, runs[i]}).value();
  EXPECT_EQ(one_by_one.runs, at_once.runs);
}

TEST(MergeRecords, OfDifferentImagesIsRefused) {
  Record other = test::RandomRun(1);
  other.manifest = oci::Digest::Of("another image");
  EXPECT_THAT(std::string(Message(MergeRecords({test::RandomRun(1), other}).status())), HasSubstr("another about"));
  std::vector<Record> layers = {test::RandomRun(1), test::RandomRun(1)};
  for (int i = 0; i < static_cast<int>(kMostRecordLayers); ++i) layers[1].layers.push_back(test::LayerOf(100 + i));
  EXPECT_THAT(std::string(Message(MergeRecords(layers).status())), HasSubstr("1027 layers"));
  Record size = test::RandomRun(1);
  size.files[0].size += 1 << 20;
  EXPECT_THAT(std::string(Message(MergeRecords({test::RandomRun(1), size}).status())), HasSubstr("in another"));
  EXPECT_FALSE(MergeRecords({}).ok());
}

Record RunWith(int layers, const std::vector<std::tuple<int, std::string, uint64_t>>& reads) {
  RecordBuilder builder(test::ImageDigest(), test::Layers(layers));
  for (const auto& [layer, path, at_us] : reads) builder.Add(test::LayerOf(layer), path, 5'000, 0, 5'000, at_us);
  return builder.Build();
}

TEST(MergeRecords, ALayerThatOnlyOneRunKnewIsInItAndTheOtherCountsAsNeedingWhatThatNeeded) {
  const Record before = RunWith(1, {{0, "python", 0}, {0, "old", 900}});
  const Record since = RunWith(2, {{0, "python", 0}, {1, "torch", 1'000}, {0, "new", 1'100}});
  const Record merged = MergeRecords({before, since}).value();
  EXPECT_EQ(CheckRecord(merged), OkStatus());
  EXPECT_EQ(merged.layers.size(), 2u);
  EXPECT_THAT(Paths(merged), ElementsAre("python", "torch", "old", "new"));
  EXPECT_THAT(NeedTimes(merged), ElementsAre(0, 1'000, 900, 1'100));
  // A third run knows the layer, and does not need torch.
  const Record third = RunWith(2, {{0, "python", 0}, {1, "numpy", 300}});
  EXPECT_THAT(Paths(MergeRecords({merged, third}).value()), ElementsAre("python", "numpy", "old", "torch", "new"));
}

TEST(MergeRecords, OfRunsThatKnewDifferentLayersDoesNotDependOnPairsOrOrderEither) {
  for (uint32_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    std::vector<Record> runs;
    for (uint32_t i = 0; i < 3; ++i) {
      std::vector<oci::LayerDigest> known;
      for (int layer = 0; layer < 3; ++layer) {
        if (random() % 3 != 0) known.push_back(test::LayerOf(layer));
      }
      runs.push_back(test::RandomRun(4 * seed + i, 12, known));
    }
    const auto& [a, b, c] = std::tie(runs[0], runs[1], runs[2]);
    const Record all = MergeRecords(runs).value();
    ASSERT_EQ(CheckRecord(all), OkStatus());
    const Record left = MergeRecords({MergeRecords({a, b}).value(), c}).value();
    const Record right = MergeRecords({a, MergeRecords({b, c}).value()}).value();
    const Record turned = MergeRecords({c, a, b}).value();
    for (const Record* other : {&left, &right, &turned}) {
      ASSERT_EQ(CheckRecord(*other), OkStatus());
      ASSERT_EQ(other->layers, all.layers);
      ASSERT_EQ(other->runs, all.runs);
      ASSERT_EQ(NeededByAll(*other), NeededByAll(all));
    }
    for (const Record& again : runs) ASSERT_EQ(PagesOf(MergeRecords({all, again}).value()), PagesOf(all));
    ASSERT_EQ(DecodeRecord(EncodeRecord(all).value()).value(), all);
  }
}

TEST(CutRecord, LeavesWhatFitsAlone) { EXPECT_EQ(CutRecord(test::RandomRun(1)).value(), test::RandomRun(1)); }

TEST(CutRecord, CutsWhatIsNeededLatestAndIsStillTheSameRuns) {
  std::vector<Record> runs;
  for (uint32_t seed = 0; seed < 8; ++seed) runs.push_back(test::RandomRun(seed, 300));
  const Record merged = MergeRecords(runs).value();
  ASSERT_GT(EncodeRecord(merged)->size(), 800u);
  const Record cut = CutRecord(merged, 800).value();
  EXPECT_LE(EncodeRecord(cut)->size(), 800u);
  EXPECT_GT(EncodeRecord(cut)->size(), 600u);
  EXPECT_EQ(CheckRecord(cut), OkStatus());
  EXPECT_EQ(CutRecord(cut, 800).value(), cut);
  const std::vector<std::string> all = Paths(merged), kept = Paths(cut);
  EXPECT_TRUE(std::equal(kept.begin(), kept.end(), all.begin()));
  EXPECT_EQ(cut.runs, merged.runs);
  // Of one run too: merged with the whole one again it is not another run.
  const Record one = test::RandomRun(3, 300);
  const Record part = CutRecord(one, 400).value();
  EXPECT_LT(part.extents.size(), one.extents.size());
  EXPECT_THAT(MergeRecords({part, one})->runs, ElementsAre(RunName(one)));
  EXPECT_EQ(PagesOf(MergeRecords({part, one}).value()).size(), PagesOf(one).size());
  EXPECT_FALSE(CutRecord(one, 10).ok());
}

}  // namespace
}  // namespace soci
