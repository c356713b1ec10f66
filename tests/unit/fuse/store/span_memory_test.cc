#include "fuse/store/span_memory.h"

#include <gtest/gtest.h>

#include <cstring>
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

TEST(SpanMemory, WhatLiesIdleIsBoundedAndGoesWithTheLastSpan) {
  std::vector<SpanMemory> blocks;
  for (int i = 0; i < 40; ++i) blocks.push_back(TakeSpanMemory(4 * kMiB));
  blocks.resize(1);
  EXPECT_LE(IdleSpanMemory(), 16 * kMiB);
  EXPECT_GE(IdleSpanMemory(), 8 * kMiB);
  blocks.clear();
  EXPECT_EQ(IdleSpanMemory(), 0u);
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
