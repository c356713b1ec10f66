#include "fuse/store/span_memory.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <thread>
#include <vector>

namespace soci {
namespace {

constexpr size_t kMiB = 1 << 20;

TEST(SpanMemory, ABlockIsUsedAgain) {
  const SpanMemory keeps_the_rest = TakeSpanMemory(kMiB);
  SpanMemory block = TakeSpanMemory(4 * kMiB - 7);
  const std::byte* const place = block.get();
  block.reset();
  EXPECT_EQ(IdleSpanMemory(), 4 * kMiB);
  block = TakeSpanMemory(4 * kMiB);
  EXPECT_EQ(block.get(), place);
  EXPECT_EQ(IdleSpanMemory(), 0u);
}

TEST(SpanMemory, WhatLiesIdleAndWhatIsTakenAreBoundedTogether) {
  std::vector<SpanMemory> blocks;
  for (int i = 0; i < 40; ++i) blocks.push_back(TakeSpanMemory(4 * kMiB));
  blocks.resize(20);
  EXPECT_EQ(IdleSpanMemory(), 16 * kMiB) << "little is left where much is taken";
  blocks.resize(1);
  EXPECT_EQ(IdleSpanMemory(), 60 * kMiB);
  blocks.clear();
  EXPECT_EQ(IdleSpanMemory(), 0u) << "it goes with the last span";
}

// A fill's compressed and decoded spans: neither's blocks push out the other's.
TEST(SpanMemory, WavesOfTwoSizesMapNothingAnew) {
  const SpanMemory keeps_the_rest = TakeSpanMemory(kMiB);
  std::set<const std::byte*> known;
  for (int wave = 0; wave < 5; ++wave) {
    std::vector<SpanMemory> compressed, decoded;
    for (int i = 0; i < 10; ++i) compressed.push_back(TakeSpanMemory(2 * kMiB));
    for (int i = 0; i < 8; ++i) decoded.push_back(TakeSpanMemory(4 * kMiB + kMiB / 2));
    for (const auto* blocks : {&compressed, &decoded}) {
      for (const SpanMemory& block : *blocks) EXPECT_EQ(known.insert(block.get()).second, wave == 0);
    }
    compressed.clear();
  }
}

TEST(SpanMemory, WhatHasWaitedLongestGoesFirst) {
  std::vector<SpanMemory> many;
  for (int i = 0; i < 16; ++i) many.push_back(TakeSpanMemory(4 * kMiB));
  SpanMemory small = TakeSpanMemory(kMiB);
  SpanMemory large = TakeSpanMemory(16 * kMiB);
  const std::byte* const place = large.get();
  small.reset();
  large.reset();
  EXPECT_EQ(IdleSpanMemory(), 16 * kMiB);
  large = TakeSpanMemory(16 * kMiB);
  EXPECT_EQ(large.get(), place);
}

TEST(SpanMemory, AnySizeCanBeWritten) {
  for (size_t size : {size_t{0}, size_t{1}, size_t{4096}, 256 * size_t{1024}, 256 * size_t{1024} + 1, 64 * kMiB}) {
    const SpanMemory memory = TakeSpanMemory(size);
    ASSERT_NE(memory, nullptr);
    std::memset(memory.get(), 1, size);
  }
}

TEST(SpanMemory, ManyThreadsTakeAndReturn) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      std::vector<SpanMemory> held(3);
      for (size_t i = 0; i < 200; ++i) {
        SpanMemory& memory = held[i % held.size()];
        memory = TakeSpanMemory((1 + (i * 7 + static_cast<size_t>(t)) % 5) * kMiB);
        std::memset(memory.get(), t, 64);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(IdleSpanMemory(), 0u);
}

}  // namespace
}  // namespace soci
