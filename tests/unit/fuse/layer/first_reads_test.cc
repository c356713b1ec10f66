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
  reads_->Add(counter_);
  for (int i = 0; i < 3; ++i) Read(2, 70'000, 4096);
  EXPECT_EQ(counter_.calls, 1);
  Read(2, 131'072, 4096);
  EXPECT_EQ(counter_.calls, 2);
  EXPECT_EQ(counter_.last, 131'072u);
  reads_->Remove(counter_);
}

TEST_F(FirstReadsTest, ASmallFileBesideOneThatWasReadIsNew) {
  reads_->Add(counter_);
  Read(2, 0, 1000);
  Read(3, 1024, 1000);
  EXPECT_EQ(counter_.calls, 2);
  reads_->Remove(counter_);
}

TEST_F(FirstReadsTest, WhoListensLaterHearsEverythingAnew) {
  Counter later;
  reads_->Add(counter_);
  Read(2, 0, 1000);
  reads_->Add(later);
  Read(2, 0, 1000);
  EXPECT_EQ(counter_.calls, 1);
  EXPECT_EQ(later.calls, 1);
  reads_->Remove(counter_);
  reads_->Remove(later);
  reads_->Add(counter_);
  Read(2, 0, 1000);
  EXPECT_EQ(counter_.calls, 2);
  reads_->Remove(counter_);
}

TEST_F(FirstReadsTest, AfterRemoveNothingIsTold) {
  reads_->Add(counter_);
  reads_->Remove(counter_);
  Read(2, 0, 1000);
  EXPECT_EQ(counter_.calls, 0);
}

TEST_F(FirstReadsTest, HoweverManyListenEachHearsAndWhoLeavesMakesRoom) {
  std::array<Counter, 20> many;
  for (Counter& one : many) reads_->Add(one);
  Read(2, 0, 1000);
  for (Counter& one : many) EXPECT_EQ(one.calls, 1);
  for (size_t i = 0; i < many.size(); i += 2) reads_->Remove(many[i]);
  std::array<Counter, 12> later;
  for (Counter& one : later) reads_->Add(one);
  Read(2, 70'000, 1000);
  for (size_t i = 0; i < many.size(); ++i) EXPECT_EQ(many[i].calls, i % 2 == 0 ? 1 : 2) << i;
  for (Counter& one : later) EXPECT_EQ(one.calls, 1);
  for (size_t i = 1; i < many.size(); i += 2) reads_->Remove(many[i]);
  for (Counter& one : later) reads_->Remove(one);
}

TEST_F(FirstReadsTest, ListenersComeAndGoWhileOthersRead) {
  std::atomic<bool> stop = false;
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      for (uint64_t at = 0; !stop; at = (at + 4096) % 390'000) Read(2 + at % 2, at, 4096);
    });
  }
  for (int i = 0; i < 20; ++i) {
    std::vector<std::unique_ptr<Counter>> listeners;  // more from time to time than there were ever before
    for (int j = 0; j < 10 + i; ++j) reads_->Add(*listeners.emplace_back(std::make_unique<Counter>()));
    for (const auto& listener : listeners) reads_->Remove(*listener);
  }  // they may be gone now
  stop = true;
  for (std::thread& reader : readers) reader.join();
}

}  // namespace
}  // namespace soci
