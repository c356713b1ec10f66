// A layer's decoded spans in memory. Writes can be held back or made to fail; checks can be made to fail. Any thread.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>

#include "fuse/store/backing_store.h"
#include "indexer/base/mutex.h"

namespace soci::test {

class FakeBackingStore : public BackingStore {
 public:
  explicit FakeBackingStore(uint32_t span_count) : span_count_(span_count) {}

  bool IsPresent(SpanId span) const override {
    MutexLock lock(mutex_);
    return spans_.count(span) > 0;
  }
  uint32_t present_count() const override {
    MutexLock lock(mutex_);
    return static_cast<uint32_t>(spans_.size());
  }
  std::optional<SpanId> NextMissing(SpanId from) const override {
    MutexLock lock(mutex_);
    for (uint32_t i = ToIndex(from); i < span_count_; ++i) {
      if (!spans_.count(SpanId{i})) return SpanId{i};
    }
    return std::nullopt;
  }
  Status CheckSpan(SpanId span, ByteSpan) override {
    if (on_check) on_check();
    MutexLock lock(mutex_);
    return span == false_span_ ? absl::DataLossError("a header differs from the table") : OkStatus();
  }
  Status WriteSpan(SpanId span, ByteSpan decoded) override {
    MutexLock lock(mutex_);
    ++writing_;
    changed_.NotifyAll();
    while (held_) changed_.Wait(mutex_);
    --writing_;
    changed_.NotifyAll();
    if (!disk_.ok()) return disk_;
    spans_[span] = std::string(AsText(decoded));
    return OkStatus();
  }
  Result<size_t> ReadFile(InodeId, uint64_t, MutableByteSpan, bool) override {
    return absl::UnimplementedError("no files here");
  }

  void HoldWrites(bool hold) {
    MutexLock lock(mutex_);
    held_ = hold;
    changed_.NotifyAll();
  }
  void SetDisk(const Status& status) {
    MutexLock lock(mutex_);
    disk_ = status;
  }
  void MakeFalse(SpanId span) {
    MutexLock lock(mutex_);
    false_span_ = span;
  }
  // Waits until so many writes are held, or so many spans are present.
  void WaitForWriting(int count) {
    MutexLock lock(mutex_);
    while (writing_ < count) changed_.Wait(mutex_);
  }
  void WaitForPresent(size_t count) {
    MutexLock lock(mutex_);
    while (spans_.size() < count) changed_.Wait(mutex_);
  }
  std::string Bytes(SpanId span) const {
    MutexLock lock(mutex_);
    auto found = spans_.find(span);
    return found == spans_.end() ? "" : found->second;
  }

  std::function<void()> on_check;  // set before use

 private:
  const uint32_t span_count_;
  mutable Mutex mutex_;
  CondVar changed_;
  std::map<SpanId, std::string> spans_ SOCI_GUARDED_BY(mutex_);
  bool held_ SOCI_GUARDED_BY(mutex_) = false;
  int writing_ SOCI_GUARDED_BY(mutex_) = 0;
  Status disk_ SOCI_GUARDED_BY(mutex_);
  std::optional<SpanId> false_span_ SOCI_GUARDED_BY(mutex_);
};

}  // namespace soci::test
