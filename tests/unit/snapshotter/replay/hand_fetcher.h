// A fetcher whose answers a test gives by hand, in any order. Any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "fuse/fetch/layer_fetcher.h"
#include "indexer/base/mutex.h"

namespace soci::test {

class HandFetcher : public LayerFetcher {
 public:
  void Get(SpanId span, FetchClass, Callback done) override {
    if (answers_at_once_) {
      {
        MutexLock lock(mutex_);
        asked_.push_back(static_cast<uint32_t>(ToIndex(span)));
      }
      return done(Answered(at_once_));
    }
    MutexLock lock(mutex_);
    asked_.push_back(static_cast<uint32_t>(ToIndex(span)));
    waiting_.emplace(ToIndex(span), std::move(done));
  }
  void Replay(const std::vector<SpanId>& spans, int64_t due, const Arrived& arrived) override {
    {
      MutexLock lock(mutex_);
      due_.push_back(due);
    }
    LayerFetcher::Replay(spans, due, arrived);
  }
  void Foresee(const std::vector<SpanId>&) override {}
  void StartFill(std::function<void()>) override {}
  void StopFill() override {}
  FillState fill_state() const override { return FillState::kIdle; }

  // From now on everything is answered from within the call. Not while others call.
  void AnswerAtOnce(Status status) {
    at_once_ = std::move(status);
    answers_at_once_ = true;
  }
  // Answers one that waits.
  void Answer(uint32_t span, const Status& status = OkStatus()) {
    Callback done;
    {
      MutexLock lock(mutex_);
      const auto found = waiting_.find(span);
      done = std::move(found->second);
      waiting_.erase(found);
    }
    done(Answered(status));
  }
  void AnswerAll(const Status& status = OkStatus()) {
    for (const uint32_t span : waiting()) Answer(span, status);
  }

  // Every span that was ever asked for, in order.
  std::vector<uint32_t> asked() const {
    MutexLock lock(mutex_);
    return asked_;
  }
  // Of each replay that was asked for, in order.
  std::vector<int64_t> due() const {
    MutexLock lock(mutex_);
    return due_;
  }
  std::vector<uint32_t> waiting() const {
    std::vector<uint32_t> spans;
    MutexLock lock(mutex_);
    for (const auto& [span, done] : waiting_) spans.push_back(static_cast<uint32_t>(span));
    return spans;
  }

 private:
  static Result<std::shared_ptr<const SpanBuffer>> Answered(const Status& status) {
    if (!status.ok()) return status;
    return std::make_shared<const SpanBuffer>();
  }

  bool answers_at_once_ = false;
  Status at_once_;
  mutable Mutex mutex_;
  std::vector<int64_t> due_ SOCI_GUARDED_BY(mutex_);
  std::vector<uint32_t> asked_ SOCI_GUARDED_BY(mutex_);
  std::multimap<uint64_t, Callback> waiting_ SOCI_GUARDED_BY(mutex_);
};

}  // namespace soci::test
