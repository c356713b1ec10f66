// A remote blob whose answers the test gives by hand: each read waits until it is delivered, ended, failed or torn.
//
// After AnswerByItself it answers every read at once, as a local source does. Any thread; what the test delivers is fed
// to the sink from the test's thread.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "indexer/base/byte_source.h"
#include "indexer/base/mutex.h"

namespace soci::test {

class FakeByteSource : public ByteSource {
 public:
  struct Seen {
    uint64_t offset = 0;
    uint64_t length = 0;
    FetchClass fetch_class{};
    std::chrono::milliseconds budget{};
    bool asker_retries = false;
    bool paused = false;
    bool cancelled = false;
    bool ended = false;
  };

  explicit FakeByteSource(std::string bytes) : state_(std::make_shared<State>(std::move(bytes))) {}
  ~FakeByteSource() override {
    std::vector<std::shared_ptr<Read>> reads;  // each keeps the state alive that keeps it
    MutexLock lock(state_->mutex);
    reads.swap(state_->reads);
  }

  uint64_t size() const override { return state_->bytes.size(); }
  Status ReadAt(uint64_t, MutableByteSpan, const FetchContext&) const override {
    return absl::UnimplementedError("only StartRead");
  }
  std::shared_ptr<Transfer> StartRead(uint64_t offset, uint64_t length, const FetchContext& context,
                                      std::shared_ptr<ByteSink> sink) const override {
    auto read = std::make_shared<Read>(state_);
    read->seen = {offset, length, context.fetch_class, context.budget, context.asker_retries};
    read->sink = std::move(sink);
    bool at_once;
    {
      MutexLock lock(state_->mutex);
      state_->reads.push_back(read);
      at_once = state_->at_once;
      state_->changed.NotifyAll();
    }
    if (at_once) read->Feed(length, false, true, OkStatus());
    return read;
  }

  // From now on; reads that wait already keep waiting.
  void AnswerByItself() {
    MutexLock lock(state_->mutex);
    state_->at_once = true;
  }

  // Whether the server has asked every reader to wait.
  void TellToWait(bool told) { state_->told_to_wait = told; }

  // Waits (ten seconds at most) until this many reads were asked for in all. False if they were not.
  bool WaitForReads(size_t count) {
    return WaitUntil([&](const std::vector<Seen>& reads) { return reads.size() >= count; });
  }
  bool WaitUntil(const std::function<bool(const std::vector<Seen>&)>& condition) {
    auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    MutexLock lock(state_->mutex);
    while (!condition(SeenLocked())) {
      if (!state_->changed.WaitUntil(state_->mutex, deadline)) return condition(SeenLocked());
    }
    return true;
  }
  std::vector<Seen> reads() {
    MutexLock lock(state_->mutex);
    return SeenLocked();
  }

  // The latest read that begins at this offset; reads that start together come in any order.
  size_t At(uint64_t offset) {
    std::vector<Seen> seen = reads();
    for (size_t i = seen.size(); i-- > 0;) {
      if (seen[i].offset == offset) return i;
    }
    return seen.size();
  }

  // The read's next bytes.
  void Deliver(size_t read, uint64_t count) { Numbered(read)->Feed(count, false, false, OkStatus()); }
  // The rest of it, and its end.
  void Finish(size_t read) { Numbered(read)->Feed(~uint64_t{0}, false, true, OkStatus()); }
  // The same with one wrong bit.
  void FinishTorn(size_t read) { Numbered(read)->Feed(~uint64_t{0}, true, true, OkStatus()); }
  void Fail(size_t read, const Status& status) { Numbered(read)->Feed(0, false, true, status); }

 private:
  struct Read;
  struct State {
    explicit State(std::string all) : bytes(std::move(all)) {}
    const std::string bytes;
    Mutex mutex;
    CondVar changed;
    bool at_once = false;
    std::atomic<bool> told_to_wait{false};
    std::vector<std::shared_ptr<Read>> reads;
  };

  struct Read : Transfer {
    explicit Read(std::shared_ptr<State> owner) : state(std::move(owner)) {}

    void Pause() override { Set(&Seen::paused, true); }
    void Resume() override { Set(&Seen::paused, false); }
    void Cancel() override {
      Set(&Seen::cancelled, true);
      Feed(0, false, true, absl::CancelledError("cancelled"));
    }
    bool IsToldToWait() const override { return state->told_to_wait; }
    void Set(bool Seen::*field, bool value) {
      MutexLock lock(state->mutex);
      seen.*field = value;
      state->changed.NotifyAll();
    }
    void Feed(uint64_t count, bool torn, bool end, Status status) {
      MutexLock feeding(feed_mutex);  // calls for one read never overlap
      if (!sink) return;
      uint64_t begin = seen.offset + fed;
      std::string piece = state->bytes.substr(begin, std::min(count, seen.length - fed));
      if (torn && !piece.empty()) piece[piece.size() / 2] ^= 1;
      fed += piece.size();
      Status taken = piece.empty() ? OkStatus() : sink->OnBytes(AsBytes(piece));
      if (!end && taken.ok()) return;
      std::shared_ptr<ByteSink> last = std::move(sink);
      Set(&Seen::ended, true);
      last->OnEnd(taken.ok() ? status : taken);
    }

    const std::shared_ptr<State> state;
    Seen seen;
    Mutex feed_mutex;
    uint64_t fed = 0;
    std::shared_ptr<ByteSink> sink;
  };

  std::shared_ptr<Read> Numbered(size_t read) {
    MutexLock lock(state_->mutex);
    return state_->reads.at(read);
  }
  std::vector<Seen> SeenLocked() {
    std::vector<Seen> seen;
    for (const auto& read : state_->reads) seen.push_back(read->seen);
    return seen;
  }

  const std::shared_ptr<State> state_;
};

}  // namespace soci::test
