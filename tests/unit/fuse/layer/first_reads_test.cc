#include "fuse/layer/first_reads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "tests/fakes/fake_layer_table.h"

namespace soci {
namespace {

using test::FakeLayerTable;

class Counter : public FirstReads::Listener {
 public:
  void OnFirstRead(const FirstReads::Part& part) override {
    ++calls;
    last = part.offset;
  }
  std::atomic<int> calls = 0;
  std::atomic<uint64_t> last = 0;
};

class FirstReadsTest : public ::testing::Test {
 protected:
  FirstReadsTest() {
    table_->File("a", std::string(1000, 'a'));
    table_->File("b", std::string(1000, 'b'));
    table_->Number();
    table_->SetTar(std::string(400'000, 't'), 100'000);
    reads_ = std::make_unique<FirstReads>(table_);
  }
  void Read(uint64_t file, uint64_t begin, uint64_t size) {
    reads_->OnRead({InodeId{file}, begin, {begin, begin + size}, false});
  }

  std::shared_ptr<FakeLayerTable> table_ = std::make_shared<FakeLayerTable>();
  std::unique_ptr<FirstReads> reads_;
  Counter counter_;
};

TEST_F(FirstReadsTest, APartIsToldOnce) {
  ASSERT_TRUE(reads_->Add(counter_));
  for (int i = 0; i < 3; ++i) Read(2, 70'000, 4096);
  EXPECT_EQ(counter_.calls, 1);
  Read(2, 131'072, 4096);
  EXPECT_EQ(counter_.calls, 2);
  EXPECT_EQ(counter_.last, 131'072u);
  reads_->Remove(counter_);
}

TEST_F(FirstReadsTest, ASmallFileBesideOneThatWasReadIsNew) {
  ASSERT_TRUE(reads_->Add(counter_));
  Read(2, 0, 1000);
  Read(3, 1024, 1000);
  EXPECT_EQ(counter_.calls, 2);
  reads_->Remove(counter_);
}

TEST_F(FirstReadsTest, WhoListensLaterHearsEverythingAnew) {
  Counter later;
  ASSERT_TRUE(reads_->Add(counter_));
  Read(2, 0, 1000);
  ASSERT_TRUE(reads_->Add(later));
  Read(2, 0, 1000);
  EXPECT_EQ(counter_.calls, 1);
  EXPECT_EQ(later.calls, 1);
  reads_->Remove(counter_);
  reads_->Remove(later);
  ASSERT_TRUE(reads_->Add(counter_));
  Read(2, 0, 1000);
  EXPECT_EQ(counter_.calls, 2);
  reads_->Remove(counter_);
}

TEST_F(FirstReadsTest, AfterRemoveNothingIsTold) {
  ASSERT_TRUE(reads_->Add(counter_));
  reads_->Remove(counter_);
  Read(2, 0, 1000);
  EXPECT_EQ(counter_.calls, 0);
}

TEST_F(FirstReadsTest, TooManyListenersAreRefused) {
  std::array<Counter, 20> many;
  size_t added = 0;
  for (Counter& one : many) added += reads_->Add(one) ? 1 : 0;
  EXPECT_LT(added, many.size());
  for (Counter& one : many) reads_->Remove(one);
}

TEST_F(FirstReadsTest, ListenersComeAndGoWhileOthersRead) {
  std::atomic<bool> stop = false;
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      for (uint64_t at = 0; !stop; at = (at + 4096) % 390'000) Read(2 + at % 2, at, 4096);
    });
  }
  for (int i = 0; i < 200; ++i) {
    auto listener = std::make_unique<Counter>();
    ASSERT_TRUE(reads_->Add(*listener));
    reads_->Remove(*listener);  // it may be gone now
  }
  stop = true;
  for (std::thread& reader : readers) reader.join();
}

}  // namespace
}  // namespace soci
