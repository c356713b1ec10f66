// Many layers that are complete cost one sync, and none while they keep coming.
#include "snapshotter/pull/layer_sync.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

#include "tests/support/temporary_directory.h"
#include "tests/unit/snapshotter/pull/sync_count.h"

namespace soci {
namespace {

constexpr LayerSync::Delay kNone{std::chrono::milliseconds(0), std::chrono::milliseconds(0)};

TEST(LayerSync, LayersThatComeDuringASyncShareTheNextOne) {
  const test::TemporaryDirectory root;
  const int before = test::SyncCount();
  LayerSync sync(root.path(), kNone);
  std::promise<void> begun, all_came, last;
  sync.Later([&] {
    begun.set_value();
    all_came.get_future().wait();
  });
  begun.get_future().wait();
  std::atomic<int> done{0};
  for (int i = 0; i < 40; ++i) {
    sync.Later([&] {
      if (++done == 40) last.set_value();
    });
  }
  all_came.set_value();
  last.get_future().wait();
  EXPECT_EQ(test::SyncCount(), before + 2);
}

TEST(LayerSync, WhatHasNotBegunIsLeftWhenItEnds) {
  const test::TemporaryDirectory root;
  const int before = test::SyncCount();
  bool done = false;
  {
    LayerSync sync(root.path(), {std::chrono::hours(1), std::chrono::hours(1)});
    sync.Later([&] { done = true; });
  }
  EXPECT_FALSE(done);
  EXPECT_EQ(test::SyncCount(), before);
}

TEST(LayerSync, AfterAFailureNothingIsSaidToBeOnTheDisk) {
  const test::TemporaryDirectory root;
  bool done = false;
  {
    LayerSync sync(root / "missing", kNone);
    sync.Later([&] { done = true; });
  }
  EXPECT_FALSE(done);
}

}  // namespace
}  // namespace soci
