#include "fuse/fetch/span_fetcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fuse/fetch/verified_decode.h"
#include "indexer/base/log.h"

namespace soci {
namespace {

// A transfer without anyone waiting may take long: it stands still whenever demand waits.
constexpr std::chrono::minutes kUnhurried{10};

void RunAll(const std::vector<std::function<void()>>& tasks) {
  for (const std::function<void()>& task : tasks) task();
}

}  // namespace

std::unique_ptr<LayerFetcher> MakeLayerFetcher(FetchScheduler& scheduler, std::shared_ptr<const LayerTable> table,
                                               const ByteSource& source, BackingStore& store,
                                               LayerFetcherOptions options) {
  return std::make_unique<SpanFetcher>(scheduler, std::move(table), source, store, std::move(options));
}

SpanFetcher::SpanFetcher(FetchScheduler& scheduler, std::shared_ptr<const LayerTable> table, const ByteSource& source,
                         BackingStore& store, LayerFetcherOptions options)
    : scheduler_(scheduler),
      table_(std::move(table)),
      source_(source),
      store_(store),
      options_(std::move(options)),
      decoder_(options_.decoder ? *options_.decoder : DecoderFor(table_->compression())),
      mutex_(scheduler.mutex()),
      flights_(*table_),
      fill_(*table_, store_, flights_) {
  MutexLock lock(mutex_);
  scheduler_.Attach(*this);
}

SpanFetcher::~SpanFetcher() {
  Answers answers;
  {
    MutexLock lock(mutex_);
    closing_ = true;
    fill_state_ = FillState::kStopped;
    scheduler_.DropJobs(*this, [](const SpanJob&) { return true; });
    for (const std::shared_ptr<RangeTransfer>& transfer : transfers_) transfer->cancel_wanted = true;
    for (auto& [span, flight] : flights_.all()) {
      for (Waiter& waiter : flight.waiters) {
        answers.push_back([done = std::move(waiter.done), where = Where(span)] {
          done(absl::CancelledError(where + ": the layer goes away"));
        });
      }
      flight.waiters.clear();
    }
    scheduler_.Signal();
  }
  RunAll(answers);
  MutexLock lock(mutex_);
  while (holds_ > 0) released_.Wait(mutex_);
  scheduler_.Detach(*this);
}

std::string SpanFetcher::Where(SpanId span) const {
  return fmt::format("reading span {} of {}", soci::ToIndex(span), table_->layer().ToString());
}

void SpanFetcher::Release() {
  if (--holds_ == 0) released_.NotifyAll();
}

std::function<void()> SpanFetcher::Held(std::function<void()> task) {
  mutex_.AssertHeld();
  Hold();
  return [this, task = std::move(task)] {
    task();
    MutexLock lock(mutex_);
    Release();
  };
}

// Asking.

void SpanFetcher::Get(SpanId span, FetchClass fetch_class, Callback done) {
  std::optional<Result<std::shared_ptr<const SpanBuffer>>> answer;
  {
    MutexLock lock(mutex_);
    answer = AnswerOrJoin(span, fetch_class, done);
  }
  if (answer) done(std::move(*answer));
}

Status SpanFetcher::CheckAskable(SpanId span) const {
  if (closing_) return absl::CancelledError("the layer goes away");
  if (soci::ToIndex(span) >= table_->span_count()) return absl::InvalidArgumentError("there is no such span");
  SOCI_RETURN_IF_ERROR(condemned_);
  SpanExtent extent = table_->Extent(span);
  uint64_t size = std::max(extent.compressed.size(), extent.uncompressed.size());
  if (size > options_.largest_span) {
    return absl::InvalidArgumentError(fmt::format("it has {} bytes, more than {}", size, options_.largest_span));
  }
  return OkStatus();
}

std::optional<Result<std::shared_ptr<const SpanBuffer>>> SpanFetcher::AnswerOrJoin(SpanId span, FetchClass fetch_class,
                                                                                   Callback& done) {
  Status askable = CheckAskable(span);
  if (!askable.ok()) return Annotate(askable, Where(span));
  Flight* flight = flights_.Find(span);
  if (flight && flight->state == Flight::State::kInMemory) return flight->buffer;
  if (!flight) {
    if (store_.IsPresent(span)) return absl::AlreadyExistsError(Where(span) + ": it is in the store");
    flight = &flights_.Add(span, fetch_class, scheduler_.NextOrder(), Flight::State::kQueued);
    last_miss_ = flight->order;
    fill_.MoveTo(span);
    if (fetch_class == FetchClass::kDemand) ++scheduler_.counters().demand_misses;
  } else if (fetch_class == FetchClass::kDemand) {
    ++scheduler_.counters().demand_joins;
  }
  if (fetch_class < flight->fetch_class) {
    flights_.Raise(span, fetch_class);
    if (flight->state == Flight::State::kDecoding) scheduler_.RaiseDecode(*this, span, fetch_class);
  }
  Clock::TimePoint deadline = scheduler_.clock().Now() + options_.budget;
  flight->waiters.push_back({std::move(done), deadline});
  next_due_ = std::min(next_due_, deadline);
  scheduler_.Signal();
  return std::nullopt;
}

void SpanFetcher::Foresee(const std::vector<SpanId>& spans) {
  MutexLock lock(mutex_);
  for (SpanId span : spans) {
    if (!CheckAskable(span).ok()) continue;
    if (flights_.Find(span)) {
      flights_.Raise(span, FetchClass::kReadAhead);
    } else if (!store_.IsPresent(span)) {
      flights_.Add(span, FetchClass::kReadAhead, scheduler_.NextOrder(), Flight::State::kQueued);
    }
  }
  scheduler_.Signal();
}

void SpanFetcher::Fail(SpanId span, const Status& status, Answers& answers) {
  Flight* flight = flights_.Find(span);
  for (Waiter& waiter : flight->waiters) {
    answers.push_back([done = std::move(waiter.done), status = Annotate(status, Where(span))] { done(status); });
  }
  flights_.Erase(span);
  fill_.Reconsider();
}

// What the scheduler asks.

const std::vector<std::shared_ptr<RangeTransfer>>& SpanFetcher::transfers() const {
  mutex_.AssertHeld();
  return transfers_;
}

bool SpanFetcher::DemandWaits() const {
  mutex_.AssertHeld();
  if (closing_) return false;
  if (flights_.HasQueued(FetchClass::kDemand)) return true;
  for (const std::shared_ptr<RangeTransfer>& transfer : transfers_) {
    if (!transfer->cancel_wanted && ClassOf(*transfer) == FetchClass::kDemand) return true;
  }
  return false;
}

FetchClass SpanFetcher::ClassOf(const RangeTransfer& transfer) const {
  mutex_.AssertHeld();
  FetchClass most_urgent = FetchClass::kFill;
  for (size_t i = transfer.delivered; i < transfer.spans().size(); ++i) {
    auto flight = flights_.all().find(transfer.spans()[i]);
    if (flight != flights_.all().end()) most_urgent = std::min(most_urgent, flight->second.fetch_class);
  }
  return most_urgent;
}

bool SpanFetcher::Wants(FetchClass fetch_class, Clock::TimePoint now) {
  mutex_.AssertHeld();
  if (closing_) return false;
  if (flights_.HasQueued(fetch_class)) return true;
  return fetch_class == FetchClass::kFill && FillWants(now);
}

uint64_t SpanFetcher::OldestWanted(FetchClass fetch_class) const {
  mutex_.AssertHeld();
  // Fill without a queue is after every fill that has one; the layer that was read last comes first.
  return flights_.HasQueued(fetch_class) ? flights_.OldestQueued(fetch_class) : ~uint64_t{0} - last_miss_;
}

std::shared_ptr<RangeTransfer> SpanFetcher::StartRange(FetchClass fetch_class, Clock::TimePoint now) {
  mutex_.AssertHeld();
  std::vector<SpanId> spans;
  if (flights_.HasQueued(fetch_class)) {
    spans = flights_.TakeRange(fetch_class, options_.wanted_range);
  } else {
    spans = fill_.NextRange(now, options_.fill_range);
    for (SpanId span : spans) {
      flights_.Add(span, FetchClass::kFill, scheduler_.NextOrder(), Flight::State::kFetching);
    }
  }
  auto transfer = std::make_shared<RangeTransfer>(*this, spans, flights_.CompressedRanges(spans), fetch_class,
                                                  BudgetOf(spans, now));
  transfers_.push_back(transfer);
  Hold();  // until TransferEnded
  return transfer;
}

std::chrono::milliseconds SpanFetcher::BudgetOf(const std::vector<SpanId>& spans, Clock::TimePoint now) const {
  std::chrono::milliseconds budget(0);
  for (SpanId span : spans) {
    for (const Waiter& waiter : flights_.all().at(span).waiters) {
      budget = std::max(budget, std::chrono::ceil<std::chrono::milliseconds>(waiter.deadline - now));
    }
  }
  return budget > std::chrono::milliseconds(0) ? budget : kUnhurried;
}

void SpanFetcher::Expire(Clock::TimePoint now, std::vector<std::function<void()>>& actions) {
  mutex_.AssertHeld();
  if (now < next_due_) return;
  next_due_ = Clock::TimePoint::max();
  std::vector<SpanId> abandoned;
  for (auto& [span, flight] : flights_.all()) {
    auto late = std::stable_partition(flight.waiters.begin(), flight.waiters.end(),
                                      [&](const Waiter& waiter) { return waiter.deadline > now; });
    for (auto waiter = late; waiter != flight.waiters.end(); ++waiter) {
      Status status = absl::DeadlineExceededError(
          fmt::format("{}: no answer within {} ms{}{}", Where(span), options_.budget.count(),
                      flight.last_error.ok() ? "" : ", at last: ", Message(flight.last_error)));
      actions.push_back(Held([done = std::move(waiter->done), status] { done(status); }));
      scheduler_.counters().Failed(FetchFault::kAnsweredLate);
    }
    flight.waiters.erase(late, flight.waiters.end());
    for (const Waiter& waiter : flight.waiters) next_due_ = std::min(next_due_, waiter.deadline);

    bool idle = flight.state == Flight::State::kQueued || flight.state == Flight::State::kBackingOff;
    bool for_nobody = flight.fetch_class == FetchClass::kDemand ||
                      (flight.fetch_class == FetchClass::kFill && fill_state_ != FillState::kRunning);
    if (idle && flight.waiters.empty() && for_nobody) {
      abandoned.push_back(span);
    } else if (flight.state == Flight::State::kBackingOff && flight.retry_at <= now) {
      flights_.SetState(span, Flight::State::kQueued);
    } else if (flight.state == Flight::State::kBackingOff) {
      next_due_ = std::min(next_due_, flight.retry_at);
    }
  }
  for (SpanId span : abandoned) flights_.Erase(span);
  if (!abandoned.empty()) fill_.Reconsider();
}

std::optional<Clock::TimePoint> SpanFetcher::NextDue(Clock::TimePoint now) const {
  mutex_.AssertHeld();
  std::optional<Clock::TimePoint> due;
  auto consider = [&](Clock::TimePoint time) {
    if (time > now && time != Clock::TimePoint::max()) due = due ? std::min(*due, time) : time;
  };
  consider(next_due_);
  if (fill_state_ == FillState::kRunning) {
    consider(fill_not_before_);
    if (std::optional<Clock::TimePoint> delayed = fill_.NextDue()) consider(*delayed);
  }
  return due;
}

// What its transfers bring.

void SpanFetcher::TransferStarted(RangeTransfer& transfer, std::shared_ptr<Transfer> handle) {
  MutexLock lock(mutex_);
  transfer.handle = std::move(handle);
  scheduler_.Signal();
}

std::shared_ptr<Transfer> SpanFetcher::HandleOf(const RangeTransfer& transfer) const {
  MutexLock lock(mutex_);
  return transfer.handle;
}

void SpanFetcher::SpanArrived(RangeTransfer& transfer, size_t index, CompressedBytes bytes) {
  MutexLock lock(mutex_);
  SpanId span = transfer.spans()[index];
  transfer.delivered = index + 1;
  scheduler_.Signal();
  if (closing_) return;
  Flight* flight = flights_.Find(span);
  SpanJob job{this, span, flight->fetch_class, bytes.size, DecodedSize(span)};
  scheduler_.counters().Arrived(flight->fetch_class, bytes.size);
  flight->compressed = std::move(bytes);
  flights_.SetState(span, Flight::State::kDecoding);
  fill_failures_ = 0;
  Hold();  // until DecodeSpan is done
  scheduler_.PushDecode(job);
}

void SpanFetcher::TransferEnded(RangeTransfer& transfer, Status status) {
  Answers answers;
  {
    MutexLock lock(mutex_);
    if (status.ok()) status = absl::UnavailableError("the source ended early");
    const bool failed = !closing_ && !transfer.cancel_wanted && transfer.delivered < transfer.spans().size();
    if (failed) scheduler_.counters().Failed(FaultOf(status));
    for (size_t i = transfer.delivered; i < transfer.spans().size(); ++i) {
      FetchFailed(transfer.spans()[i], status, transfer.cancel_wanted, answers);
    }
    auto self = std::find_if(transfers_.begin(), transfers_.end(), [&](const auto& t) { return t.get() == &transfer; });
    transfers_.erase(self);
    scheduler_.Signal();
  }
  RunAll(answers);
  MutexLock lock(mutex_);
  Release();
}

void SpanFetcher::FetchFailed(SpanId span, const Status& status, bool cancelled, Answers& answers) {
  if (closing_) return;
  Flight* flight = flights_.Find(span);
  if (flight->waiters.empty()) {
    flights_.Erase(span);
    fill_.Reconsider();
    if (!cancelled) BackOffFill(status);
  } else if (cancelled) {
    // Fill was stopped; who joined it meanwhile still wants the span.
    flights_.SetState(span, Flight::State::kQueued);
  } else if (IsWorthRetrying(status)) {
    flight->last_error = status;
    flight->retry_at = scheduler_.clock().Now() + RetryDelay(++flight->failures, true);
    flights_.SetState(span, Flight::State::kBackingOff);
    next_due_ = std::min(next_due_, flight->retry_at);
  } else {
    Fail(span, status, answers);
  }
}

// Decoding.

void SpanFetcher::DecodeDropped(SpanId span) {
  mutex_.AssertHeld();
  flights_.Find(span)->compressed = {};
  if (!closing_) flights_.Erase(span);
  fill_.Reconsider();
  Release();
}

void SpanFetcher::DecodeSpan(SpanId span) {
  CompressedBytes compressed;
  {
    MutexLock lock(mutex_);
    compressed = std::move(flights_.Find(span)->compressed);
  }
  if (!MatchesDigest(*table_, span, compressed.view())) {
    DecodedTorn(span);
  } else {
    Result<std::shared_ptr<const SpanBuffer>> decoded = DecodeMatching(*table_, decoder_, span, compressed.view());
    compressed = {};
    Status checked = decoded.ok() ? store_.CheckSpan(span, (*decoded)->view()) : decoded.status();
    // What the store finds out it tells itself.
    if (absl::IsDataLoss(decoded.status())) log::Error("the index of this layer is false: {}", Message(checked));
    checked.ok() ? DecodedWell(span, std::move(*decoded)) : DecodedBadly(span, checked);
  }
  MutexLock lock(mutex_);
  scheduler_.Signal();
  Release();
}

void SpanFetcher::DecodedWell(SpanId span, std::shared_ptr<const SpanBuffer> buffer) {
  std::vector<Waiter> waiters;
  {
    MutexLock lock(mutex_);
    Flight* flight = flights_.Find(span);
    flight->buffer = buffer;
    flights_.SetState(span, Flight::State::kInMemory);
    waiters.swap(flight->waiters);
  }
  for (Waiter& waiter : waiters) waiter.done(buffer);
  buffer.reset();

  MutexLock lock(mutex_);
  Flight* flight = flights_.Find(span);
  if (closing_) return scheduler_.FreeDecoded(DecodedSize(span));
  Hold();  // until WriteSpan is done
  scheduler_.PushWrite({this, span, flight->fetch_class, 0, DecodedSize(span)});
}

void SpanFetcher::DecodedTorn(SpanId span) {
  Answers answers;
  {
    MutexLock lock(mutex_);
    scheduler_.FreeDecoded(DecodedSize(span));
    if (closing_) return;
    Flight* flight = flights_.Find(span);
    int torn = ++flight->torn;
    scheduler_.counters().Failed(FetchFault::kDigest);
    log::Warning("{}: the bytes do not match their digest (attempt {} of {})", Where(span), torn,
                 options_.verify_attempts);
    if (flight->waiters.empty() && fill_state_ != FillState::kRunning) return flights_.Erase(span);
    if (torn < options_.verify_attempts) {
      flight->last_error = absl::DataLossError("the bytes do not match their digest");
      flights_.SetState(span, Flight::State::kQueued);
      return;
    }
    fill_.Delay(span, scheduler_.clock().Now() + std::chrono::minutes(1));
    Fail(span, absl::DataLossError(fmt::format("{} times its bytes did not match their digest", torn)), answers);
  }
  RunAll(answers);
}

void SpanFetcher::DecodedBadly(SpanId span, const Status& status) {
  Answers answers;
  {
    MutexLock lock(mutex_);
    scheduler_.FreeDecoded(DecodedSize(span));
    if (closing_) return;
    if (status.code() == absl::StatusCode::kDataLoss) {
      Condemn(Annotate(status, Where(span)));
    } else {
      BackOffFill(status);
    }
    Fail(span, status, answers);
  }
  RunAll(answers);
}

void SpanFetcher::Condemn(const Status& status) {
  if (!condemned_.ok()) return;
  condemned_ = status;
  scheduler_.counters().Failed(FetchFault::kFalseIndex);
  if (fill_state_ == FillState::kRunning) fill_state_ = FillState::kStopped;
  CancelUnwanted();
}

// Writing behind.

void SpanFetcher::WriteDropped(SpanId span) {
  mutex_.AssertHeld();
  flights_.Erase(span);
  fill_.Reconsider();
  Release();
}

void SpanFetcher::WriteSpan(SpanId span) {
  std::shared_ptr<const SpanBuffer> buffer;
  {
    MutexLock lock(mutex_);
    buffer = flights_.Find(span)->buffer;
  }
  Status written = store_.WriteSpan(span, buffer->view());
  buffer.reset();

  std::function<void()> complete;
  {
    MutexLock lock(mutex_);
    scheduler_.FreeDecoded(DecodedSize(span));
    flights_.Erase(span);
    if (written.ok()) {
      complete = TakeComplete();
    } else {
      fill_.Reconsider();
      if (written.code() == absl::StatusCode::kDataLoss) {
        Condemn(Annotate(written, Where(span)));
      } else {
        scheduler_.counters().Failed(FetchFault::kDisk);
        BackOffFill(Annotate(written, "writing"));
      }
    }
    scheduler_.Signal();
  }
  if (complete) complete();
  MutexLock lock(mutex_);
  Release();
}

// Fill.

LayerFetcher::FillState SpanFetcher::fill_state() const {
  MutexLock lock(mutex_);
  return fill_state_;
}

void SpanFetcher::StartFill(std::function<void()> complete) {
  MutexLock lock(mutex_);
  Status fillable = condemned_;
  for (uint32_t i = 0; fillable.ok() && i < table_->span_count(); ++i) fillable = CheckAskable(SpanId{i});
  if (closing_ || !fillable.ok()) {
    log::Error("{} will not be filled: {}", table_->layer().ToString(), Message(fillable));
    fill_state_ = FillState::kStopped;
    return;
  }
  fill_state_ = FillState::kRunning;
  fill_complete_ = std::move(complete);
  fill_not_before_ = {};
  fill_.Reconsider();
  if (std::function<void()> already = TakeComplete()) scheduler_.PostIo(Held(std::move(already)));
  scheduler_.Signal();
}

std::function<void()> SpanFetcher::TakeComplete() {
  if (fill_state_ != FillState::kRunning || store_.NextMissing(SpanId{0})) return nullptr;
  fill_state_ = FillState::kComplete;
  return std::exchange(fill_complete_, nullptr);
}

void SpanFetcher::StopFill() {
  MutexLock lock(mutex_);
  if (fill_state_ != FillState::kComplete) fill_state_ = FillState::kStopped;
  CancelUnwanted();
  scheduler_.Signal();
}

// Ends everything that nobody waits for.
void SpanFetcher::CancelUnwanted() {
  auto unwanted = [this](SpanId span) SOCI_NO_THREAD_SAFETY_ANALYSIS {
    Flight* flight = flights_.Find(span);
    return flight && flight->waiters.empty();
  };
  for (const std::shared_ptr<RangeTransfer>& transfer : transfers_) {
    auto rest = transfer->spans().begin() + static_cast<std::ptrdiff_t>(transfer->delivered);
    transfer->cancel_wanted = transfer->cancel_wanted || std::all_of(rest, transfer->spans().end(), unwanted);
  }
  scheduler_.DropJobs(*this, [&](const SpanJob& job) { return job.compressed > 0 && unwanted(job.span); });
  std::vector<SpanId> queued;
  for (const auto& [span, flight] : flights_.all()) {
    if (flight.state == Flight::State::kQueued && flight.waiters.empty()) queued.push_back(span);
  }
  for (SpanId span : queued) flights_.Erase(span);
}

bool SpanFetcher::FillWants(Clock::TimePoint now) {
  return fill_state_ == FillState::kRunning && now >= fill_not_before_ && fill_.Next(now).has_value();
}

void SpanFetcher::BackOffFill(const Status& status) {
  Clock::TimePoint now = scheduler_.clock().Now();
  // Many transfers fail at once when the network does; that is one failure.
  if (fill_state_ != FillState::kRunning || now < fill_not_before_) return;
  std::chrono::milliseconds delay = RetryDelay(++fill_failures_, false);
  fill_not_before_ = now + delay;
  log::Warning("filling {} pauses for {} ms: {}", table_->layer().ToString(), delay.count(), Message(status));
}

}  // namespace soci
