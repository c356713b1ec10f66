// A layer of sixteen spans of 100 bytes, its source, store and clock in the test's hands, and the fetcher between them.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <thread>

#include "fuse/fetch/fetch_scheduler.h"
#include "fuse/fetch/make_layer_fetcher.h"
#include "tests/fakes/fake_backing_store.h"
#include "tests/fakes/fake_byte_source.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_layer_table.h"

namespace soci::test {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;
using Answer = Result<std::shared_ptr<const SpanBuffer>>;
using Reads = std::vector<FakeByteSource::Seen>;

constexpr uint32_t kSpans = 16;
constexpr uint64_t kSpanSize = 100;

inline std::string TarBytes() {
  std::string tar;
  for (uint64_t i = 0; i < kSpans * kSpanSize; ++i) tar += static_cast<char>('a' + (i * 7 + i / kSpanSize) % 26);
  return tar;
}

class SpanFetcherTest : public ::testing::Test {
 protected:
  SpanFetcherTest() { table_->SetTar(tar_, kSpanSize); }
  ~SpanFetcherTest() override {
    store_.HoldWrites(false);
    fetcher_.reset();
  }

  void Start() {
    scheduler_ = std::make_unique<FetchScheduler>(clock_, scheduler_options_);
    fetcher_ = Fetcher();
  }
  std::unique_ptr<LayerFetcher> Fetcher() {
    options_.host = "registry";
    return MakeLayerFetcher(*scheduler_, table_, source_, store_, options_);
  }

  void Get(uint32_t span, FetchClass fetch_class = FetchClass::kDemand) {
    fetcher_->Get(SpanId{span}, fetch_class, [this, span](Answer answer) { Note(span, std::move(answer)); });
  }
  void Note(uint32_t span, Answer answer) {
    MutexLock lock(mutex_);
    answers_.emplace(span, std::move(answer));
    answered_.NotifyAll();
  }
  // The first answer for a span; waits for it.
  Answer WaitFor(uint32_t span) {
    MutexLock lock(mutex_);
    while (answers_.count(span) == 0) answered_.Wait(mutex_);
    return answers_.find(span)->second;
  }
  void WaitForAnswers(size_t count) {
    MutexLock lock(mutex_);
    while (answers_.size() < count) answered_.Wait(mutex_);
  }
  std::string Text(uint32_t span) {
    Answer answer = WaitFor(span);
    return answer.ok() ? std::string(AsText((*answer)->view())) : answer.status().ToString();
  }
  std::string Expected(uint32_t span) const { return tar_.substr(span * kSpanSize, kSpanSize); }
  void Advance(milliseconds time) {
    clock_.Advance(time);
    scheduler_->Wake();
  }
  void StartFill() {
    fetcher_->StartFill([this] {
      MutexLock lock(mutex_);
      complete_ = true;
      answered_.NotifyAll();
    });
  }
  void WaitForComplete() {
    MutexLock lock(mutex_);
    while (!complete_) answered_.Wait(mutex_);
  }

  const std::string tar_ = TarBytes();
  FakeClock clock_;
  std::shared_ptr<FakeLayerTable> table_ = std::make_shared<FakeLayerTable>();
  FakeByteSource source_{tar_};
  FakeBackingStore store_{kSpans};
  FetchSchedulerOptions scheduler_options_;
  LayerFetcherOptions options_;
  Mutex mutex_;
  CondVar answered_;
  std::multimap<uint32_t, Answer> answers_;
  bool complete_ = false;
  std::unique_ptr<FetchScheduler> scheduler_;
  std::unique_ptr<LayerFetcher> fetcher_;
};

}  // namespace soci::test
