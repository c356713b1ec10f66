// What all layers share when they fetch: the order of classes, the connections per host, the decode pool, and the
// memory between the network and the disk. One per daemon.
//
// One thread decides: it starts, pauses, resumes and cancels transfers and lets time pass; nothing else does. Decoding
// runs on one thread per core, starts and writes on the I/O pool. All state, that of the fetchers too, is under one
// mutex, which is held for arithmetic only: never across a call-back, a ByteSource, a Transfer or a write.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "fuse/fetch/fetch_counters.h"
#include "fuse/fetch/fetch_policy.h"
#include "fuse/fetch/host_state.h"
#include "fuse/fetch/span_queue.h"
#include "indexer/base/clock.h"
#include "indexer/base/mutex.h"
#include "indexer/base/thread_pool.h"

namespace soci {

class FetchGuest;
class RangeTransfer;
class SpanFetcher;

struct FetchSchedulerOptions {
  HostBudget connections;             // per registry host
  unsigned decode_threads = 0;        // 0: one per core
  unsigned io_threads = 4;            // start transfers and write behind
  unsigned writers = 2;               // of those, at most so many write: a slow disk must not keep reads from starting
  uint64_t decoded_limit = 40 << 20;  // decoded bytes that wait for the disk
  uint64_t fetched_limit = 16 << 20;  // compressed bytes that wait to be decoded before lower classes stand still
  uint64_t round_trip_bytes = 2 << 20;  // what a connection brings in a round trip, until a host has shown it
  bool threads = true;                  // false: nothing happens but in Settle and DecodeOne (a simulation)
};

class FetchScheduler {
 public:
  explicit FetchScheduler(Clock& clock, const FetchSchedulerOptions& options = {});
  // Every fetcher is gone.
  ~FetchScheduler();
  FetchScheduler(const FetchScheduler&) = delete;
  FetchScheduler& operator=(const FetchScheduler&) = delete;

  // Looks at the clock again, which otherwise happens when real time has come.
  void Wake();

  // Decoded bytes in memory that are not on the disk yet, those being decoded among them.
  uint64_t decoded_bytes();

  FetchCounters& counters() { return counters_; }

  // Without threads: does everything that may be done at this time, decoding apart.
  void Settle();
  // Without threads: decodes the span that is next. False: none waits that may be decoded.
  bool DecodeOne();
  bool HasDecodes();
  // The next time that something is due by itself.
  std::optional<Clock::TimePoint> NextDue();

  // --- for the fetchers ---
  // Comes before the mutexes of BackingStore; a fetcher's state is under it too.
  Mutex& mutex() { return mutex_; }
  const Clock& clock() const { return clock_; }
  // Lives as long as the scheduler; what is in it is under the mutex.
  HostState& FindHost(const std::string& host);
  // With the mutex held:
  void Attach(SpanFetcher& fetcher);
  void Detach(SpanFetcher& fetcher);
  void Signal();  // something changed
  // Waits for `released` while the scheduler's work goes on.
  void Await(CondVar& released) SOCI_NO_THREAD_SAFETY_ANALYSIS;  // the caller's name for the mutex is another
  uint64_t NextOrder();
  void PushDecode(const SpanJob& job);
  void RaiseDecode(const SpanFetcher& fetcher, SpanId span, FetchClass fetch_class);
  void PushWrite(const SpanJob& job);
  void FreeDecoded(uint64_t bytes);
  void AttachGuest(FetchGuest& guest);
  void DetachGuest(FetchGuest& guest);
  bool MayGuestStart(const std::string& host);
  // Takes back what waits for a thread and matches.
  void DropJobs(SpanFetcher& fetcher, const std::function<bool(const SpanJob&)>& matches);
  // Runs on the I/O pool.
  void PostIo(std::function<void()> task) { io_pool_.Post(std::move(task)); }

 private:
  using Actions = std::vector<std::function<void()>>;

  void Run();
  Actions Decide(Clock::TimePoint now) SOCI_REQUIRES(mutex_);
  void Steer(const DaemonLoad& load, Actions& actions) SOCI_REQUIRES(mutex_);
  void StartRanges(DaemonLoad load, Clock::TimePoint now, Actions& actions) SOCI_REQUIRES(mutex_);
  void TellGuests(const DaemonLoad& load, Clock::TimePoint now, Actions& actions) SOCI_REQUIRES(mutex_);
  void TellGuest(FetchGuest& guest, std::function<void()> call, Actions& actions) SOCI_REQUIRES(mutex_);
  HostState& HostOf(const std::string& host) SOCI_REQUIRES(mutex_);
  HostBudget BudgetOf(const HostState& state) const SOCI_REQUIRES(mutex_);
  void NoteRate(HostState& state, Clock::TimePoint now) SOCI_REQUIRES(mutex_);
  DaemonLoad Load() SOCI_REQUIRES(mutex_);
  bool PullWaits(const std::string& host) SOCI_REQUIRES(mutex_);
  HostLoad LoadOf(const std::string& host, Clock::TimePoint now) SOCI_REQUIRES(mutex_);
  SpanFetcher* FirstWaiting(const std::string& host, FetchClass fetch_class, Clock::TimePoint now)
      SOCI_REQUIRES(mutex_);
  void WaitForNews(Clock::TimePoint now) SOCI_REQUIRES(mutex_);
  // The next time after `now` that something is due.
  std::optional<Clock::TimePoint> DueAfter(Clock::TimePoint now) SOCI_REQUIRES(mutex_);
  bool MayDecode(const SpanJob& job) SOCI_REQUIRES(mutex_);
  void PostDecoders() SOCI_REQUIRES(mutex_);
  void DropWrite(const SpanJob& job) SOCI_REQUIRES(mutex_);
  void RunDecode();
  void RunWriter();

  Clock& clock_;
  const FetchSchedulerOptions options_;
  FetchCounters counters_;

  Mutex mutex_;
  CondVar news_;
  bool signalled_ SOCI_GUARDED_BY(mutex_) = false;
  bool stopping_ SOCI_GUARDED_BY(mutex_) = false;
  uint64_t last_order_ SOCI_GUARDED_BY(mutex_) = 0;
  uint64_t fills_ SOCI_GUARDED_BY(mutex_) = 0;                  // ranges of fill that were begun
  std::vector<SpanFetcher*> fetchers_ SOCI_GUARDED_BY(mutex_);  // in the order they came
  std::map<std::string, HostState> hosts_ SOCI_GUARDED_BY(mutex_);
  std::vector<FetchGuest*> guests_ SOCI_GUARDED_BY(mutex_);
  SpanQueue decode_queue_ SOCI_GUARDED_BY(mutex_);
  SpanQueue write_queue_ SOCI_GUARDED_BY(mutex_);
  size_t idle_decoders_ SOCI_GUARDED_BY(mutex_) = 0;  // posted tasks that found nothing they may decode
  unsigned writers_ SOCI_GUARDED_BY(mutex_) = 0;
  uint64_t decoded_bytes_ SOCI_GUARDED_BY(mutex_) = 0;

  ThreadPool decode_pool_;
  ThreadPool io_pool_;
  std::thread thread_;
};

}  // namespace soci
