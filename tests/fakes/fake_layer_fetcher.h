// Gives spans of a layer that lies in memory. A held span is answered by Release, from the thread that calls it; a
// broken one fails. Any thread.
#pragma once

#include <cstring>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "fuse/fetch/layer_fetcher.h"
#include "indexer/base/mutex.h"
#include "indexer/table/layer_table.h"

namespace soci::test {

class FakeLayerFetcher : public LayerFetcher {
 public:
  // `tar` outlives the fetcher.
  FakeLayerFetcher(std::shared_ptr<const LayerTable> table, ByteSpan tar) : table_(std::move(table)), tar_(tar) {}

  void Get(SpanId span, FetchClass fetch_class, Callback done) override {
    Result<std::shared_ptr<const SpanBuffer>> answer = absl::InternalError("nothing");
    {
      MutexLock lock(mutex_);
      asked_.emplace_back(span, fetch_class);
      if (holding_) {
        held_.emplace_back(span, std::move(done));
        arrived_.NotifyAll();
        return;
      }
      const auto broken = broken_.find(span);
      answer = broken != broken_.end() ? Result<std::shared_ptr<const SpanBuffer>>(broken->second) : Decoded(span);
    }
    done(std::move(answer));
  }
  void Foresee(const std::vector<SpanId>& spans) override {
    MutexLock lock(mutex_);
    foreseen_.insert(foreseen_.end(), spans.begin(), spans.end());
  }
  void StartFill(std::function<void()> complete) override { complete(); }
  void StopFill() override {}
  FillState fill_state() const override { return FillState::kIdle; }

  void Break(SpanId span, Status status) {
    MutexLock lock(mutex_);
    broken_[span] = std::move(status);
  }
  void Heal(SpanId span) {
    MutexLock lock(mutex_);
    broken_.erase(span);
  }
  void Hold() {
    MutexLock lock(mutex_);
    holding_ = true;
  }
  void WaitForHeld(size_t count) {
    MutexLock lock(mutex_);
    while (held_.size() < count) arrived_.Wait(mutex_);
  }
  void Release() {
    std::vector<std::pair<SpanId, Callback>> held;
    {
      MutexLock lock(mutex_);
      holding_ = false;
      held.swap(held_);
    }
    for (auto& [span, done] : held) done(Decoded(span));
  }
  std::vector<std::pair<SpanId, FetchClass>> asked() const {
    MutexLock lock(mutex_);
    return asked_;
  }
  std::vector<SpanId> foreseen() const {
    MutexLock lock(mutex_);
    return foreseen_;
  }

 private:
  std::shared_ptr<const SpanBuffer> Decoded(SpanId span) const {
    auto buffer = std::make_shared<SpanBuffer>();
    buffer->range = table_->Extent(span).uncompressed;
    buffer->bytes = std::make_unique<std::byte[]>(buffer->range.size());
    std::memcpy(buffer->bytes.get(), tar_.data() + buffer->range.begin, buffer->range.size());
    return buffer;
  }

  const std::shared_ptr<const LayerTable> table_;
  const ByteSpan tar_;
  mutable Mutex mutex_;
  CondVar arrived_;
  bool holding_ SOCI_GUARDED_BY(mutex_) = false;
  std::vector<std::pair<SpanId, Callback>> held_ SOCI_GUARDED_BY(mutex_);
  std::vector<std::pair<SpanId, FetchClass>> asked_ SOCI_GUARDED_BY(mutex_);
  std::vector<SpanId> foreseen_ SOCI_GUARDED_BY(mutex_);
  std::map<SpanId, Status> broken_ SOCI_GUARDED_BY(mutex_);
};

}  // namespace soci::test
