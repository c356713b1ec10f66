// The fetcher of one layer: its flights, its transfers and its fill. The scheduler decides when, this does what.
//
// A span's way: queued -> fetching -> decoding -> in memory -> on the disk. Who asks meanwhile joins its flight. Every
// piece of work that is under way holds the fetcher, and the destructor waits for all of them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fuse/fetch/fetch_scheduler.h"
#include "fuse/fetch/fill_cursor.h"
#include "fuse/fetch/flight_table.h"
#include "fuse/fetch/make_layer_fetcher.h"
#include "fuse/fetch/range_transfer.h"

namespace soci {

class SpanFetcher final : public LayerFetcher {
 public:
  SpanFetcher(FetchScheduler& scheduler, std::shared_ptr<const LayerTable> table, const ByteSource& source,
              BackingStore& store, LayerFetcherOptions options);
  ~SpanFetcher() override;

  void Get(SpanId span, FetchClass fetch_class, Callback done) override;
  void Replay(const std::vector<SpanId>& spans, int64_t due, const Arrived& arrived) override;
  void Foresee(const std::vector<SpanId>& spans) override;
  void StartFill(std::function<void()> complete) override;
  void StopFill() override;
  FillState fill_state() const override;

  // --- the scheduler, its mutex held ---
  const std::string& host() const { return options_.host; }
  const HostState& host_state() const { return host_state_; }
  const ByteSource& source() const { return source_; }
  bool DemandWaits() const;
  bool Wants(FetchClass fetch_class, Clock::TimePoint now);
  // The place of what it would start next; it wants something.
  FlightOrder FirstWanted(FetchClass fetch_class) const;
  size_t RunningOf(FetchClass fetch_class) const;
  uint64_t last_fill() const;
  std::shared_ptr<RangeTransfer> StartRange(FetchClass fetch_class, Clock::TimePoint now);
  const std::vector<std::shared_ptr<RangeTransfer>>& transfers() const;
  // The most urgent class among the spans it has still to bring.
  FetchClass ClassOf(const RangeTransfer& transfer) const;
  // What time has brought: answers to who waited too long, and spans that want another try.
  void Expire(Clock::TimePoint now, std::vector<std::function<void()>>& actions);
  // Whether some span would be missed if it ended now.
  bool IsCarrier(const RangeTransfer& transfer) const;
  // The next time after `now` that something is due.
  std::optional<Clock::TimePoint> NextDue(Clock::TimePoint now) const;
  // Asks again, on another connection, for what takes longer than almost all requests to the host do.
  void HedgeSlow(Clock::TimePoint now, std::vector<std::function<void()>>& actions);
  // A task that holds the fetcher until it has run.
  std::function<void()> Held(std::function<void()> task);
  void DecodeDropped(SpanId span);
  void WriteDropped(SpanId span);

  // --- its transfers, without the mutex ---
  Clock::TimePoint Now() const { return scheduler_.clock().Now(); }
  void CountBytes(uint64_t bytes) { host_state_.received.fetch_add(bytes, std::memory_order_relaxed); }
  void TransferAsked(RangeTransfer& transfer);
  void TransferStarted(RangeTransfer& transfer, std::shared_ptr<Transfer> handle);
  std::shared_ptr<Transfer> HandleOf(const RangeTransfer& transfer) const;
  void SpanArrived(RangeTransfer& transfer, size_t index, CompressedBytes bytes);
  void TransferEnded(RangeTransfer& transfer, Status status);

  // --- the scheduler's pools, without the mutex; each ends one hold ---
  void DecodeSpan(SpanId span);
  void WriteSpan(SpanId span);

 private:
  using Answers = std::vector<std::function<void()>>;

  // An answer that needs no flight, or nothing after the caller was put on one.
  std::optional<Result<std::shared_ptr<const SpanBuffer>>> AnswerOrJoin(SpanId span, FetchClass fetch_class,
                                                                        int64_t due, Callback& done)
      SOCI_REQUIRES(mutex_);
  std::optional<Clock::TimePoint> HedgeAt(const RangeTransfer& transfer) const SOCI_REQUIRES(mutex_);
  std::shared_ptr<RangeTransfer> MakeHedge(RangeTransfer& slow) SOCI_REQUIRES(mutex_);
  void Hedge(RangeTransfer& slow);
  void OvertakeIfFar(SpanId span, const Flight& flight) SOCI_REQUIRES(mutex_);
  Approach ApproachTo(SpanId span, const RangeTransfer& transfer) const SOCI_REQUIRES(mutex_);
  void CancelIfIdle(RangeTransfer& transfer) SOCI_REQUIRES(mutex_);
  void NoteTimes(const RangeTransfer& transfer) SOCI_REQUIRES(mutex_);
  Status CheckAskable(SpanId span) const SOCI_REQUIRES(mutex_);
  uint64_t RoomAhead() const SOCI_REQUIRES(mutex_);
  bool TakesRoom(SpanId span, uint64_t& room) SOCI_REQUIRES(mutex_);
  // Gives everyone who waits for the span this error, and forgets the flight.
  void Fail(SpanId span, const Status& status, Answers& answers) SOCI_REQUIRES(mutex_);
  // The network brought an error instead of this span.
  void FetchFailed(SpanId span, const Status& status, bool cancelled, Answers& answers) SOCI_REQUIRES(mutex_);
  // The transfer ended without this span.
  void Uncarried(SpanId span, const RangeTransfer& transfer, const Status& status, Answers& answers)
      SOCI_REQUIRES(mutex_);
  void DecodedWell(SpanId span, std::shared_ptr<const SpanBuffer> buffer);
  void DecodedTorn(SpanId span);
  void DecodedBadly(SpanId span, const Status& status);
  // The table is false: nothing of it is served any more.
  void Condemn(const Status& status) SOCI_REQUIRES(mutex_);
  void CancelUnwanted() SOCI_REQUIRES(mutex_);
  void BackOffFill(const Status& status) SOCI_REQUIRES(mutex_);
  bool FillWants(Clock::TimePoint now) SOCI_REQUIRES(mutex_);
  // Its call-back, if nothing is missing any more.
  std::function<void()> TakeComplete() SOCI_REQUIRES(mutex_);
  std::chrono::milliseconds BudgetOf(const std::vector<SpanId>& spans, Clock::TimePoint now) const
      SOCI_REQUIRES(mutex_);
  void Hold() SOCI_REQUIRES(mutex_) { ++holds_; }
  void Release() SOCI_REQUIRES(mutex_);
  std::string Where(SpanId span) const;
  uint64_t DecodedSize(SpanId span) const { return table_->Extent(span).uncompressed.size(); }

  FetchScheduler& scheduler_;
  const std::shared_ptr<const LayerTable> table_;
  const ByteSource& source_;
  BackingStore& store_;
  const LayerFetcherOptions options_;
  const SpanDecoder& decoder_;

  Mutex& mutex_;  // the scheduler's
  HostState& host_state_;
  CondVar released_;
  int holds_ SOCI_GUARDED_BY(mutex_) = 0;
  bool closing_ SOCI_GUARDED_BY(mutex_) = false;
  Status condemned_ SOCI_GUARDED_BY(mutex_);
  uint64_t last_fill_ SOCI_GUARDED_BY(mutex_) = 0;  // the order of its last range of fill
  uint64_t last_miss_ SOCI_GUARDED_BY(mutex_) = 0;  // the order of the last span that nobody had foreseen
  FlightTable flights_ SOCI_GUARDED_BY(mutex_);
  std::vector<std::shared_ptr<RangeTransfer>> transfers_ SOCI_GUARDED_BY(mutex_);
  Clock::TimePoint next_due_ SOCI_GUARDED_BY(mutex_) = Clock::TimePoint::max();  // of waiters and tries

  FillState fill_state_ SOCI_GUARDED_BY(mutex_) = FillState::kIdle;
  std::function<void()> fill_complete_ SOCI_GUARDED_BY(mutex_);
  FillCursor fill_ SOCI_GUARDED_BY(mutex_);
  Clock::TimePoint fill_not_before_ SOCI_GUARDED_BY(mutex_){};
  int fill_failures_ SOCI_GUARDED_BY(mutex_) = 0;  // since the last span that came
};

}  // namespace soci
