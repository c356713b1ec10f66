// What is guessed from what was read.
#include "fuse/layer/read_ahead.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "tests/fakes/fake_layer_table.h"

namespace soci {
namespace {

using test::FakeLayerTable;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr uint64_t kSpan = 4 << 20;
constexpr InodeId kFile{2};
constexpr InodeId kOther{3};

class ReadAheadTest : public ::testing::Test {
 protected:
  void Layer(uint32_t spans, const ReadAheadOptions& options = {}) {
    auto table = std::make_shared<FakeLayerTable>();
    table->SetSpans(spans, kSpan);
    content_ = {0, spans * kSpan};
    ahead_ = std::make_unique<ReadAhead>(table, options);
  }
  std::vector<uint32_t> Read(uint64_t begin, uint64_t size, bool missed, InodeId file = kFile) {
    std::vector<uint32_t> numbers;
    for (SpanId span : ahead_->OnRead(file, content_, {begin, begin + size}, missed)) numbers.push_back(ToIndex(span));
    return numbers;
  }

  UncompressedRange content_;
  std::unique_ptr<ReadAhead> ahead_;
};

TEST_F(ReadAheadTest, AMissIsAHintAtTheSpansBehindIt) {
  Layer(100);
  EXPECT_THAT(Read(10 * kSpan, 4096, true), ElementsAre(11, 12, 13, 14));
  EXPECT_THAT(Read(98 * kSpan, 4096, true, kOther), ElementsAre(99));
}

TEST_F(ReadAheadTest, WhatIsThereIsNoHint) {
  Layer(100);
  EXPECT_THAT(Read(10 * kSpan, 4096, false), IsEmpty());
}

TEST_F(ReadAheadTest, AGuessThatWasUsedIsContinued) {
  Layer(100);
  Read(10 * kSpan, 4096, true);
  EXPECT_THAT(Read(12 * kSpan, 4096, false), ElementsAre(15, 16));
  EXPECT_THAT(Read(12 * kSpan + 4096, 4096, false), IsEmpty());
}

TEST_F(ReadAheadTest, NothingIsGuessedTwice) {
  Layer(100);
  Read(10 * kSpan, 4096, true);
  EXPECT_THAT(Read(9 * kSpan, 4096, true, kOther), IsEmpty());
}

TEST_F(ReadAheadTest, GuessesThatAreNotUsedAreBoundedByWhatIsRead) {
  Layer(10'000);
  // Every file is read once, in one place, and nothing near it.
  uint64_t guessed = 0;
  for (uint32_t i = 0; i < 400; ++i) guessed += Read(i * 20 * kSpan, 4096, true, InodeId{2 + i}).size();
  EXPECT_LE(guessed, 70u);
}

TEST_F(ReadAheadTest, AFileThatIsReadAtRandomCostsAFewGuesses) {
  constexpr uint32_t kSpans = 4000;
  Layer(kSpans);
  std::mt19937 random(1);
  std::set<uint32_t> touched, fetched;
  for (int i = 0; i < 2000; ++i) {
    const uint32_t span = random() % kSpans;
    const bool missed = fetched.insert(span).second;
    touched.insert(span);
    for (uint32_t guess : Read(span * kSpan + random() % (kSpan - 4096), 4096, missed)) fetched.insert(guess);
  }
  EXPECT_LE(fetched.size(), touched.size() * 1.02);
}

TEST_F(ReadAheadTest, AFileReadInOrderHasAWindowThatDoublesUpToTheLimit) {
  Layer(100, {.window = 32 << 20, .neighbours = 0});
  uint64_t at = 0;
  std::vector<uint64_t> ahead;
  std::set<uint32_t> asked;
  for (; at < 80 * kSpan; at += 1 << 20) {
    for (uint32_t span : Read(at, 1 << 20, false)) EXPECT_TRUE(asked.insert(span).second) << span;
    ahead.push_back(
        asked.empty() ? 0 : (*asked.rbegin() + 1) * kSpan - std::min(at + (1 << 20), (*asked.rbegin() + 1) * kSpan));
  }
  EXPECT_EQ(ahead[0], 0u);
  EXPECT_LE(ahead[7], 12u << 20);
  EXPECT_GE(ahead[40], 31u << 20);
  for (uint64_t bytes : ahead) EXPECT_LE(bytes, (32u << 20) + kSpan);
  EXPECT_EQ(asked.size(), *asked.rbegin() - *asked.begin() + 1u);  // no gap
}

TEST_F(ReadAheadTest, TheWindowEndsAtTheFilesEnd) {
  Layer(100, {.neighbours = 0});
  content_.end = 6 * kSpan;
  std::set<uint32_t> asked;
  for (uint64_t at = 0; at < content_.end; at += 1 << 20) {
    for (uint32_t span : Read(at, 1 << 20, false)) asked.insert(span);
  }
  EXPECT_THAT(asked, ElementsAre(1, 2, 3, 4, 5));
}

TEST_F(ReadAheadTest, TheWindowDiesOnASeek) {
  Layer(100, {.neighbours = 0});
  for (uint64_t at = 0; at < 8 * kSpan; at += 1 << 20) Read(at, 1 << 20, false);
  EXPECT_THAT(Read(50 * kSpan, 4096, false), IsEmpty());
  EXPECT_THAT(Read(50 * kSpan + 4096, 4096, false), IsEmpty());
}

TEST_F(ReadAheadTest, ReadsThatTheKernelReordersAreStillInOrder) {
  Layer(100, {.neighbours = 0});
  std::set<uint32_t> asked;
  for (uint64_t at = 0; at < 20 * kSpan; at += 512 << 10) {
    for (uint64_t part : {3, 1, 0, 2}) {
      for (uint32_t span : Read(at + part * (128 << 10), 128 << 10, false)) asked.insert(span);
    }
  }
  EXPECT_GE(asked.size(), 26u);
}

TEST_F(ReadAheadTest, NothingIsGuessedWhenItIsTurnedOff) {
  Layer(100, {.window = 0, .neighbours = 0});
  for (uint64_t at = 0; at < 20 * kSpan; at += 1 << 20) EXPECT_THAT(Read(at, 1 << 20, true), IsEmpty());
}

}  // namespace
}  // namespace soci
